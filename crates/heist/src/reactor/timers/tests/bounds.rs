//! That nothing is linear, and that nothing is kept.

use super::*;
