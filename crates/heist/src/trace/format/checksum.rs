//! CRC-32 as in zlib and PNG, which every language supports. It processes eight bytes at a time,
//! because a trace may have a gigabyte.

use super::u64_at;

const POLYNOMIAL: u32 = 0xEDB8_8320;

/// The effect of a byte on the sum, with 0 to 7 bytes after it.
static TABLES: [[u32; 256]; 8] = tables();

const fn tables() -> [[u32; 256]; 8] {
    let mut tables = [[0; 256]; 8];
    let mut byte = 0;
    while byte < 256 {
        let mut sum = byte as u32;
        let mut bit = 0;
        while bit < 8 {
            sum = if sum & 1 == 1 { sum >> 1 ^ POLYNOMIAL } else { sum >> 1 };
            bit += 1;
        }
        tables[0][byte] = sum;
        byte += 1;
    }
    let mut table = 1;
    while table < 8 {
        let mut byte = 0;
        while byte < 256 {
            let sum = tables[table - 1][byte];
            tables[table][byte] = sum >> 8 ^ tables[0][(sum & 0xFF) as usize];
            byte += 1;
        }
        table += 1;
    }
    tables
}

pub(in crate::trace) fn checksum(bytes: &[u8]) -> u32 {
    let mut sum = !0_u32;
    let mut eights = bytes.chunks_exact(8);
    for eight in &mut eights {
        let word = u64_at(eight, 0) ^ u64::from(sum);
        sum = 0;
        for (table, byte) in TABLES.iter().rev().zip(word.to_le_bytes()) {
            sum ^= table[usize::from(byte)];
        }
    }
    for byte in eights.remainder() {
        sum = sum >> 8 ^ TABLES[0][((sum ^ u32::from(*byte)) & 0xFF) as usize];
    }
    !sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_those_of_zlib() {
        // The check value of CRC-32, and what Python's zlib.crc32 says of the others.
        assert_eq!(checksum(b"123456789"), 0xCBF4_3926);
        assert_eq!(checksum(b""), 0);
        let bytes: Vec<u8> = (0..=255).collect();
        assert_eq!(checksum(&bytes), 0x2905_8C73);
    }
}
