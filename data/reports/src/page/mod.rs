//! Common layout of haat's reports, with charts as inline SVG and formatted numbers. Pages use no scripts, fonts or
//! external images, and support phones and dark mode.

pub mod chart;
pub mod text;

use std::fmt::{Arguments, Write};

const STYLE: &str = "
:root{color-scheme:light dark;--ink:#1c2024;--soft:#6b7280;--line:#d9dee3;--paper:#fff;--changed:#1f7a4d;--unchanged:#8aa0b4;--held:#b7791f;--failed:#b3261e;--skipped:#c3c8ce;--plot:#33658a}
@media(prefers-color-scheme:dark){:root{--ink:#e8eaed;--soft:#9aa4ae;--line:#343a40;--paper:#16191c;--changed:#52b788;--unchanged:#7890a5;--held:#e0a84a;--failed:#ef7a72;--skipped:#565d64;--plot:#7fb3d8}}
*{box-sizing:border-box}body{margin:0 auto;max-width:76rem;padding:1rem;background:var(--paper);color:var(--ink);font:16px/1.5 system-ui,sans-serif;overflow-wrap:anywhere}
h1{font-size:1.35rem;margin:.2rem 0}h2{font-size:1.05rem;margin:2rem 0 .5rem}p{margin:.3rem 0}.soft{color:var(--soft)}
dl{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(13rem,45%),1fr));gap:.5rem;margin:1rem 0}dl div{border:1px solid var(--line);border-radius:.5rem;padding:.4rem .6rem}dt{color:var(--soft);font-size:.8rem}dd{margin:0;font-size:1.25rem;font-variant-numeric:tabular-nums}
figure{margin:1rem 0}.plots{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,26rem),1fr));gap:0 2rem}.plots svg{max-width:30rem}figcaption{font-weight:600;margin-bottom:.3rem}svg{width:100%;height:auto;display:block}svg text{fill:var(--ink);font:11px system-ui,sans-serif}svg .soft{fill:var(--soft)}svg line{stroke:var(--line)}
.changed{fill:var(--changed);color:var(--changed)}.unchanged{fill:var(--unchanged);color:var(--unchanged)}.held_back{fill:var(--held);color:var(--held)}.failed{fill:var(--failed);color:var(--failed)}.skipped{fill:var(--skipped);color:var(--skipped)}.plot{fill:var(--plot)}.before{fill:var(--unchanged)}.rail{fill:var(--line)}.trace{fill:none;stroke:var(--plot);stroke-width:2}.worse{fill:var(--failed);color:var(--failed)}.better{color:var(--changed)}
.verdict{border-left:.35rem solid var(--changed);padding:.5rem .8rem;margin:1rem 0;background:color-mix(in srgb,var(--changed) 9%,transparent);border-radius:.25rem}.verdict.held{border-color:var(--held);background:color-mix(in srgb,var(--held) 12%,transparent)}.verdict strong{display:block;font-size:1.05rem}ul{margin:.4rem 0;padding-left:1.2rem}dd small{font-size:.8rem;color:var(--soft);font-weight:400}.key{display:inline-block;width:.8em;height:.55em;border-radius:.15em;background:var(--plot);vertical-align:middle;margin-right:.35em}.key.was{background:var(--unchanged);margin-left:.8em}
table{border-collapse:collapse;width:100%;font-size:.9rem}th,td{text-align:left;padding:.3rem .5rem;border-bottom:1px solid var(--line);vertical-align:top}th{color:var(--soft);font-weight:600;overflow-wrap:normal}td.n,th.n{text-align:right;font-variant-numeric:tabular-nums}td.n,.w{white-space:nowrap}td.b{min-width:9.5rem;overflow-wrap:break-word}td div+div{margin-top:.2rem}
@media(max-width:62rem){table,tbody{display:block}thead{display:none}tr{display:grid;grid-template-columns:repeat(auto-fill,minmax(6.5rem,1fr));gap:.2rem .8rem;border-bottom:1px solid var(--line);padding:.5rem 0}td,td.n{border:0;padding:0;text-align:left}td,td.n,.w{white-space:normal}td:empty{display:none}td.t{grid-column:1/-1}td.b{font-weight:600}td[data-label]::before{content:attr(data-label);display:block;color:var(--soft);font-size:.75rem;font-weight:400}}
";

/// Writes the start of a page with this title.
pub fn begin(page: &mut String, title: &str) {
    page.push_str("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">");
    page.push_str("<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">");
    page.push_str(
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">",
    );
    let title = text::escape(title);
    put(
        page,
        format_args!("<title>{title}</title><style>{STYLE}</style></head><body>"),
    );
}

/// Writes the end of a page.
pub fn end(page: &mut String) {
    page.push_str("</body></html>\n");
}

/// Writes formatted text to a page.
pub fn put(page: &mut String, text: Arguments<'_>) {
    // Writing to a string cannot fail.
    let _ = page.write_fmt(text);
}

/// Writes one figure in a row of tiles. `value` must be safe markup.
pub fn tile(page: &mut String, name: &str, value: &str) {
    put(
        page,
        format_args!("<div><dt>{}</dt><dd>{value}</dd></div>", text::escape(name)),
    );
}
