// The page of Bull Board without what its template loads from elsewhere or has inline: fonts of another host, styles in the
// markup. Its files, whose names change with each version, and its settings as data remain.

/** The template names what it needs by `static/…`; everything else in it is left behind. */
const STYLE = /<link href="(static\/css\/[\w./-]+\.css)" rel="stylesheet">/g;
const SCRIPT = /<script defer src="(static\/js\/[\w./-]+\.js)"><\/script>/g;

/**
 * `template`: Bull Board's own page; `base`: the path below which it is served, with its final slash; `settings`: what its
 * script reads from the page. Throws where the template names no script or no style: then it is of a version that this
 * does not know.
 */
export function boardPage(template: string, base: string, settings: object): string {
  const styles = [...template.matchAll(STYLE)].map(([, path]) => path as string);
  const scripts = [...template.matchAll(SCRIPT)].map(([, path]) => path as string);
  if (styles.length === 0 || scripts.length === 0)
    throw new Error('the template of @bull-board/ui has changed: it names no script or no style');
  return `<!doctype html>
<html lang="en" dir="ltr">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<base href="${base}">
<title>Queues – Zonefleet</title>
<link rel="icon" href="static/favicon-32x32.png" id="fav-logo">
${styles.map((path) => `<link rel="stylesheet" href="${path}">`).join('\n')}
</head>
<body class="preload">
<script id="__UI_CONFIG__" type="application/json">${asData(settings)}</script>
<div id="root"></div>
<noscript>This page needs JavaScript. The console has the numbers below Operator, Queues.</noscript>
${scripts.map((path) => `<script defer src="${path}"></script>`).join('\n')}
</body>
</html>
`;
}

/** JSON that cannot end the element around it. */
function asData(settings: object): string {
  return JSON.stringify(settings).replaceAll('<', '\\u003c');
}
