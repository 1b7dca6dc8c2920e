// Takes passwords in URLs, and tokens, out of texts that people read, wherever the texts came from.

/**
 * `postgres://user:secret@host` becomes `postgres://user:***@host`; `?password=` likewise. Its work is linear in the
 * text: one pass cuts it into runs of what a URL can be made of, and each run is searched once for each thing.
 */
export function hidePasswords(text: string): string {
  return text
    .replaceAll(/[^\s"\\]+/g, hideInRun)
    .replaceAll(/([?&](?:password|sslpassword)=)[^\s&"\\]*/gi, '$1***');
}

/** A password may contain `:`, `/` and `@`: it goes from the first user's colon to the last `@` of the run. */
function hideInRun(run: string): string {
  const at = run.lastIndexOf('@');
  if (at < 0) return run;
  // A failed attempt ends at the next `/`, `:` or `@`, so that attempts hardly overlap.
  const user = /\w:\/\/[^/:@]*:/.exec(run);
  if (user === null) return run;
  const colon = user.index + user[0].length;
  return colon > at ? run : `${run.slice(0, colon)}***${run.slice(at)}`;
}

/** Keys, and tokens of sessions, links and browsers: `svc_…` becomes `svc_***`. None is meant to be in a text; this is for mistakes. */
export function hideTokens(text: string): string {
  return text.replaceAll(/\b(svc|ses|lnk|dev|inv|rsl|edge)_[0-9A-Za-z_]{20,}/g, '$1_***');
}
