// The page of Bull Board without the parts of its template that are inline or loaded from other hosts: fonts and
// styles. It keeps the files, whose names change with each version, and the settings as data.

/** The template refers to its files as `static/…`. Everything else in it is dropped. */
const STYLE = /<link href="(static\/css\/[\w./-]+\.css)" rel="stylesheet">/g;
const SCRIPT = /<script defer src="(static\/js\/[\w./-]+\.js)"><\/script>/g;

/**
 * `template` is Bull Board's own page. `base` is the path below which it is served, with a trailing slash. `settings`
 * is what its script reads from the page. Throws an error if the template names no script or style, because its
 * version is then unknown here.
 */
export function boardPage(template: string, base: string, settings: object): string {
  const styles = [...template.matchAll(STYLE)].map(([, path]) => path as string);
  const scripts = [...template.matchAll(SCRIPT)].map(([, path]) => path as string);
  if (styles.length === 0 || scripts.length === 0)
    throw new Error('unknown template of @bull-board/ui: it names no script or no style');
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
<noscript>This page needs JavaScript. The console shows the numbers under Operator, Queues.</noscript>
${scripts.map((path) => `<script defer src="${path}"></script>`).join('\n')}
</body>
</html>
`;
}

/** Returns JSON that cannot close the element around it. */
function asData(settings: object): string {
  return JSON.stringify(settings).replaceAll('<', '\\u003c');
}
