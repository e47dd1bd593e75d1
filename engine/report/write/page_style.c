/* How the page looks. Colours mean the same everywhere on it: amber is a share of the variance,
 * blue is time, grey is neither. Text has a contrast of 4.5 or more, what is drawn of 3 or more
 * (WCAG 2.2, 1.4.3 and 1.4.11), and no colour says what no word says. */
#include <math.h>

#include "page_pieces.h"
#include "pythia/shown_text.h"

/* One hue from faint to strong, so that order is seen with any colour vision and in grey print. On
 * a dark page strong is bright. */
static const struct {
    double from;
    const char *class, *range;
    const char *light, *light_text, *dark, *dark_text;
} steps[PYTHIA__SHARE_STEPS] = {
    {-INFINITY, "s0", "below 1 %", "#f1f1ee", "#1c2128", "#22272d", "#e6e8eb"},
    {.01, "s1", "1 to 5 %", "#fdeccb", "#1c2128", "#3b2f1d", "#f2efe9"},
    {.05, "s2", "5 to 10 %", "#fbd596", "#1c2128", "#553d17", "#fbf4e8"},
    {.10, "s3", "10 to 25 %", "#f3b35c", "#1c2128", "#76500f", "#fff8ec"},
    {.25, "s4", "25 to 50 %", "#de8a2c", "#14171b", "#b9791a", "#0b0d10"},
    {.50, "s5", "50 to 75 %", "#b0590f", "#ffffff", "#dc9a34", "#0b0d10"},
    {.75, "s6", "75 % and more", "#82390a", "#ffffff", "#ffc866", "#0b0d10"},
};

static const char *const rules[] = {
    /* Colours. Print takes the light ones whatever the screen has. */
    ":root{color-scheme:light dark;--bg:#fff;--fg:#1c2128;--dim:#57606a;--line:#d8dee4;"
    "--soft:#f6f8fa;--track:#eef1f4;--edge:#818b98;--link:#0550ae;--share:#cb731a;--time:#3572b8;"
    "--other:#7b848e;--mark:#1c2128}",
    "@media screen and (prefers-color-scheme:dark){:root{--bg:#101317;--fg:#e6e8eb;--dim:#9da7b1;"
    "--line:#2f363d;--soft:#171b20;--track:#1f242a;--edge:#6f7984;--link:#7ab7ff;--share:#b5761f;"
    "--time:#5f9be0;--other:#77818c;--mark:#f2f4f6}}",
    /* The page */
    "*{box-sizing:border-box}",
    "html{font:15px/1.5 system-ui,-apple-system,\"Segoe UI\",Roboto,\"Noto Sans\",\"DejaVu Sans\","
    "sans-serif;background:var(--bg);color:var(--fg);-webkit-text-size-adjust:100%;"
    "text-size-adjust:100%}",
    "body{margin:0 auto;max-width:74rem;padding:1.5rem 1.5rem 4rem}",
    "h1{font-size:1rem;margin:0;color:var(--dim);font-weight:600;letter-spacing:.02em}",
    "h2{font-size:1.3rem;line-height:1.3;margin:0 0 .75rem}",
    "h3{font-size:1rem;margin:2rem 0 .25rem}",
    "h4{font-size:1rem;line-height:1.35;margin:0}",
    "p{margin:.25rem 0 .5rem;max-width:52rem}",
    "ul{padding-left:1.2rem;margin:.25rem 0}",
    ".scatter .dot{fill:var(--dim)}.scatter .limit{fill:var(--share)}",
    ".spark{white-space:pre;font-family:monospace}",
    "code{font-family:ui-monospace,\"SF Mono\",Menlo,Consolas,\"DejaVu Sans Mono\",monospace;"
    "font-size:.88em;overflow-wrap:anywhere}",
    "a{color:var(--link);text-underline-offset:.15em}",
    "a:focus-visible,summary:focus-visible,[tabindex]:focus-visible{outline:3px solid var(--link);"
    "outline-offset:2px}",
    ".skip{position:absolute;left:-99rem}",
    ".skip:focus{left:1rem;top:.5rem;background:var(--bg);padding:.5rem 1rem}",
    "main{overflow-wrap:break-word}.dim,.how,figcaption,.note{color:var(--dim)}",
    ".note{font-size:.93rem}",
    "section:target>h2,section:target>header>h2{text-decoration:underline;"
    "text-decoration-color:var(--share);text-decoration-thickness:.2em;text-underline-offset:."
    "25em}",
    /* The head */
    ".lead{font-size:1.75rem;line-height:1.25;font-weight:650;margin:.25rem 0;max-width:none}",
    ".read{margin:.25rem 0;color:var(--dim)}",
    ".warn{border-left:.3rem solid var(--share);padding:.25rem .75rem;background:var(--soft)}",
    "nav ul{list-style:none;display:flex;flex-wrap:wrap;gap:.25rem 1.25rem;padding:.5rem 0;"
    "margin:1rem 0 1.5rem;border-top:1px solid var(--line);border-bottom:1px solid var(--line)}",
    "section.part{margin:0 0 2.5rem}.read+section.part{margin-top:1.75rem}",
    "section.group{margin:0 0 2.5rem;padding-top:1.5rem;border-top:3px solid var(--fg)}",
    /* Findings */
    ".eyebrow{margin:0;color:var(--dim)}",
    ".where{font-size:1.3rem;line-height:1.4;font-weight:600;margin:.5rem 0;max-width:none}",
    ".why{font-size:1.1rem;line-height:1.5;margin:.5rem 0 1.25rem;max-width:none}",
    /* Tables */
    "table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}",
    "th,td{text-align:left;vertical-align:top;padding:.35rem .75rem .35rem 0;"
    "border-bottom:1px solid var(--line)}",
    "th:last-child,td:last-child{padding-right:0}",
    "thead th{font-size:.87rem;color:var(--dim);font-weight:600;vertical-align:bottom}",
    "tbody th{font-weight:400}",
    ".n{text-align:right;white-space:nowrap}",
    ".nb{white-space:nowrap}.e{min-width:9rem}",
    ".b{width:17%;min-width:7rem}",
    "td.b{padding-top:.7rem}",
    ".sub{display:block;font-size:.87rem;color:var(--dim)}",
    ".found{display:block;max-width:44rem}",
    ".found+.found{color:var(--dim)}",
    "tr.rest th,tr.rest td{color:var(--dim)}",
    ".wide{overflow-x:auto}",
    /* Bars: --v is the value, --l and --h are the ends of its interval */
    ".bar{display:block;position:relative;height:.8rem;background:var(--track)}",
    ".bar::before{content:\"\";position:absolute;left:0;top:0;bottom:0;width:var(--v);"
    "background:var(--share)}",
    ".bar.time::before{background:var(--time)}",
    ".bar.other::before{background:var(--other)}",
    ".bar.iv::after{content:\"\";position:absolute;top:.15rem;bottom:.15rem;left:var(--l);"
    "width:calc(var(--h) - var(--l));border:solid var(--mark);border-width:0 1.5px;"
    "background:linear-gradient(var(--mark),var(--mark)) center/100% 1.5px no-repeat}",
    /* Figures, charts, cards */
    ".two{display:grid;grid-template-columns:minmax(0,1fr) 19rem;gap:1rem "
    "2.5rem;align-items:start}",
    "dl.figures{display:grid;grid-template-columns:1fr auto;margin:0;"
    "font-variant-numeric:tabular-nums}",
    "dl.figures div{display:contents}",
    "dl.figures dt,dl.figures dd{margin:0;padding:.2rem 0;border-bottom:1px solid var(--line)}",
    "dl.figures dt{color:var(--dim)}",
    "dl.figures dd{text-align:right}",
    "figure{margin:0}",
    "figcaption{font-size:.93rem;max-width:52rem}",
    "svg{display:block}",
    "svg text{font:12px system-ui,-apple-system,\"Segoe UI\",Roboto,\"DejaVu Sans\",sans-serif;"
    "fill:var(--fg)}",
    ".hist rect{fill:var(--time)}",
    ".hist line,.hist path{stroke:var(--edge);fill:none}",
    ".hist .q{stroke:var(--mark);stroke-width:1.5}",
    ".hist .cut{stroke:var(--share);stroke-width:2;stroke-dasharray:5 3}",
    ".hist .mode{fill:var(--share);stroke:none}",
    ".hist .tick{fill:var(--dim)}",
    ".hist .mark{paint-order:stroke;stroke:var(--bg);stroke-width:4px}",
    ".run{margin:1rem 0 1.5rem}.run .wide>svg{min-width:42rem}.run ol{margin:.25rem 0;"
    "padding-left:1.5rem}",
    ".run .explained{fill:var(--share);shape-rendering:crispEdges}"
    ".run .saved{fill:var(--other);shape-rendering:crispEdges}",
    ".run line.step{stroke:var(--time);stroke-width:2.5;stroke-linecap:square;"
    "shape-rendering:crispEdges}",
    ".run line.limit{stroke:var(--time);stroke-width:1.5;stroke-dasharray:1.5 4}"
    ".run line.grid{stroke:var(--line)}"
    ".run line.found{stroke:var(--mark);stroke-width:1.5;stroke-dasharray:5 3}",
    ".run .opened{fill:var(--mark);stroke:var(--mark)}.run .closed{fill:var(--bg);"
    "stroke:var(--mark)}.run .cross{fill:none;stroke:var(--mark);stroke-width:2}",
    ".run .tick{fill:var(--dim)}.run .number{font-weight:650}.run .name{paint-order:stroke;"
    "stroke:var(--bg);stroke-width:4px}",
    ".icicle svg svg rect{stroke:var(--edge)}",
    ".icicle>.wide{margin:.5rem 0}",
    ".icicle>.wide>svg{min-width:46rem}",
    ".legend{display:flex;flex-wrap:wrap;gap:.25rem .9rem;list-style:none;padding:0;margin:.25rem "
    "0;"
    "font-size:.87rem;color:var(--dim)}",
    ".legend span{display:inline-block;width:1rem;height:1rem;margin-right:.35rem;"
    "vertical-align:-.15rem;border:1px solid var(--edge)}",
    ".cards{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,21rem),1fr));"
    "gap:1rem 1.5rem;margin:.75rem 0 1.25rem}",
    ".card{border:1px solid var(--line);border-top:3px solid var(--time);padding:.75rem 1rem;"
    "background:var(--soft)}",
    ".card table{margin:.5rem 0;font-size:.93rem}",
    ".card th,.card td{padding:.15rem .6rem .15rem 0;border:0}",
    ".card td.b{padding-top:.35rem;width:45%;min-width:4rem}",
    ".card .bar{background:var(--bg)}",
    ".low th{white-space:nowrap}",
    ".tall thead{position:absolute;left:-99rem}",
    ".tall tr{display:flex;flex-wrap:wrap;gap:0 .6rem;padding:.15rem 0}",
    ".tall tbody th{flex:1 0 100%}",
    ".tall td.b{flex:1;align-self:center;padding:0}",
    ".tall td.n{flex:0 0 4.5rem}",
    ".tall td.n[data-l]{flex:0 0 7.5rem}",
    ".tall td[data-l]::before{content:attr(data-l) \" \";color:var(--dim)}",
    "details{margin:.5rem 0}",
    "summary{cursor:pointer;color:var(--link);padding:.2rem 0}",
    ".columns{columns:24rem;font-size:.93rem;list-style:none;padding:0}",
    ".columns li{break-inside:avoid;padding:.1rem 0}",
    "dl.words dt{font-weight:600;margin-top:.5rem}",
    "dl.words dd{margin:0;max-width:52rem}",
    "footer{margin-top:2rem;border-top:1px solid var(--line);padding-top:.5rem;color:var(--dim);"
    "font-size:.87rem}",
    /* A telephone: columns become lines, and a cell says which column it was. */
    "@media screen and (max-width:44rem){body{padding:1rem .9rem 3rem}.two{grid-template-columns:"
    "minmax(0,1fr)}.lead{font-size:1.4rem}.where{font-size:1.15rem}.why{font-size:1rem}"
    ".stack thead{position:absolute;left:-99rem}.stack,.stack tbody{display:block}"
    ".stack tr{display:flex;flex-wrap:wrap;gap:.1rem 1rem;padding:.6rem 0;"
    "border-bottom:1px solid var(--line)}.stack th,.stack td{display:block;padding:0;border:0;"
    "text-align:left;overflow-wrap:anywhere}.stack tbody th,.stack td.b,.stack td.full{flex:1 0 "
    "100%}"
    ".stack td.b{padding:.2rem 0}.stack td[data-l]::before{content:attr(data-l) \" \";"
    "color:var(--dim)}.stack td:empty{display:none}.stack td.b:empty{display:none}}",
    "@media print{body{max-width:none;padding:0}html{font-size:9.5pt}nav,.skip,.up{display:none}"
    "*{print-color-adjust:exact;-webkit-print-color-adjust:exact}tr,figure,.card{break-inside:"
    "avoid}"
    "h2,h3,h4,.eyebrow,figcaption{break-after:avoid}a{color:inherit}.wide{overflow:visible}"
    ".icicle>.wide>svg,.run .wide>svg{min-width:0}}",
};

size_t pythia__share_step(double share)
{
    size_t step = 0;
    while (step + 1 < PYTHIA__SHARE_STEPS && share >= steps[step + 1].from)
        step++;
    return step;
}

const char *pythia__share_class(size_t step)
{
    return steps[step].class;
}

const char *pythia__share_range(size_t step)
{
    return steps[step].range;
}

static void add_steps(struct pythia_buf *to, bool dark)
{
    for (size_t i = 0; i < PYTHIA__SHARE_STEPS; i++) {
        const char *colour = dark ? steps[i].dark : steps[i].light;
        const char *text = dark ? steps[i].dark_text : steps[i].light_text;
        const char *class = steps[i].class;
        pythia_buf_printf(to, "rect.%s{fill:%s}span.%s{background:%s}text.%s{fill:%s}", class,
                          colour, class, colour, class, text);
    }
}

void pythia__html_sheet(struct pythia__html *h)
{
    struct pythia_buf scale = {0};
    add_steps(&scale, false);
    pythia_buf_puts(&scale, "@media screen and (prefers-color-scheme:dark){");
    add_steps(&scale, true);
    pythia_buf_putc(&scale, '}');
    const char *const last = scale.bytes ? scale.bytes : "";
    pythia__html_open(h, "style", NULL);
    pythia__html_style(h, rules, sizeof(rules) / sizeof(rules[0]));
    pythia__html_style(h, &last, 1);
    pythia__html_close(h);
    if (scale.failed)
        h->out->failed = 1;
    pythia_buf_free(&scale);
}
