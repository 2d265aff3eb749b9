//! What stores said when they were asked live, on its way from the gateway to the lake: `observations/…`.
