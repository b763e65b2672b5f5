//! Without the feature `tracing`, stalls go only to the hook and the metrics.

use super::StallReport;

pub(super) fn warn_stall(_stall: &StallReport) {}
