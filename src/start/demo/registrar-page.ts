// The page of the demo's registrar: a form for each registered name, without scripts.

import { TLD } from './demo-net.ts';
import type { Registration } from './registry.ts';

/** Rejected input, shown again with the error. */
export interface Rejected {
  readonly name: string;
  readonly nameservers: string;
  readonly field: 'name' | 'nameservers';
  readonly message: string;
}

export const STYLE = `body { font: 16px/1.5 system-ui, sans-serif; max-width: 46rem; margin: 2rem auto; padding: 0 1rem;
  color: #1b1f24; background: #fff }
form { border: 1px solid #c9d1d9; border-radius: 6px; padding: 1rem; margin: 1rem 0 }
h2 { font-size: 1.1rem; margin: 0 0 .5rem }
label { display: block }
textarea, input { font: 14px/1.4 ui-monospace, monospace; width: 100%; box-sizing: border-box }
button { margin-top: .5rem; padding: .3rem 1rem }
.saved { color: #116329 }
.problem { color: #a40e26 }
@media (prefers-color-scheme: dark) {
  body { color: #e6edf3; background: #0d1117 } form { border-color: #3d444d }
  textarea, input { color: inherit; background: #161b22 } .saved { color: #56d364 } .problem { color: #ff7b72 }
}
`;

const MARKUP: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => MARKUP[character] as string);
}

export function registrarPage(
  names: readonly (readonly [string, Registration])[],
  { saved, rejected }: { readonly saved?: string | undefined; readonly rejected?: Rejected | undefined } = {},
): string {
  const isKnown = names.some(([name]) => name === rejected?.name);
  const forms = names.map(([name, { nameservers }]) =>
    formOf(name, nameservers.join('\n'), {
      isSaved: name === saved,
      rejected: rejected?.name === name ? rejected : undefined,
    }),
  );
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Registrar of the demo</title>
<link rel="stylesheet" href="/style.css">
</head>
<body>
<h1>Registrar of the demo</h1>
<p>These names are registered below <b>.${TLD}</b>, in an internet that exists on this machine only. Enter one
nameserver per line. The registry delegates the name to them immediately. Without nameservers, it says that the name does not exist.</p>
${forms.join('\n')}
${newForm(isKnown ? undefined : rejected)}
</body>
</html>
`;
}

function formOf(
  name: string,
  nameservers: string,
  { isSaved, rejected }: { isSaved: boolean; rejected: Rejected | undefined },
): string {
  const text = escapeHtml(name);
  return `<form method="post" action="/names" id="${text}">
<h2>${text}</h2>
<input type="hidden" name="name" value="${text}">
${textArea(rejected?.nameservers ?? nameservers)}
${isSaved ? '<p class="saved" role="status">Saved at the registry.</p>' : problemOf(rejected)}
<button>Save</button>
</form>`;
}

function newForm(rejected: Rejected | undefined): string {
  return `<form method="post" action="/names">
<h2>Register a name</h2>
<label>Name <input name="name" required maxlength="253" placeholder="shop.${TLD}" value="${escapeHtml(rejected?.name ?? '')}"></label>
${textArea(rejected?.nameservers ?? '')}
${problemOf(rejected)}
<button>Register</button>
</form>`;
}

function textArea(text: string): string {
  // HTML ignores a first line break (HTML, 13.1.2.5).
  return `<label>Nameservers <textarea name="nameservers" rows="3" spellcheck="false">\n${escapeHtml(text)}</textarea></label>`;
}

function problemOf(rejected: Rejected | undefined): string {
  return rejected === undefined ? '' : `<p class="problem" role="alert">${escapeHtml(rejected.message)}</p>`;
}
