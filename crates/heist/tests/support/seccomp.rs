//! A sandbox that forbids one system call.

use std::mem::offset_of;

/// Makes the call with this number fail with `error` in this thread, in threads that it starts, and
/// in their children.
pub fn forbid(call: libc::c_long, error: i32) {
    let jump = |jt, jf, k| libc::sock_filter {
        code: (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16,
        jt,
        jf,
        k,
    };
    let plain = |code, k| libc::sock_filter { code: code as u16, jt: 0, jf: 0, k };
    let refuse = libc::SECCOMP_RET_ERRNO | error as u32;
    let mut program = [
        plain(
            libc::BPF_LD | libc::BPF_W | libc::BPF_ABS,
            offset_of!(libc::seccomp_data, nr) as u32,
        ),
        jump(0, 1, call as u32),
        plain(libc::BPF_RET | libc::BPF_K, refuse),
        plain(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_ALLOW),
    ];
    let filter = libc::sock_fprog { len: program.len() as u16, filter: program.as_mut_ptr() };
    // SAFETY: (FFI) it takes plain numbers.
    assert_eq!(unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) }, 0);
    // SAFETY: (FFI) the filter lives until the call returns, and has the length that it says.
    let done = unsafe { libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &filter) };
    assert_eq!(done, 0, "{}", std::io::Error::last_os_error());
}
