//! Stalls are no events of anything: they are for the hook and the metrics.

use super::StallReport;

pub(super) fn warn_stall(_stall: &StallReport) {}
