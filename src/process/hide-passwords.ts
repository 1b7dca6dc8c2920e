// Removes passwords in URLs, and tokens, from texts that people read.

/**
 * Replaces `postgres://user:secret@host` with `postgres://user:***@host`, and `?password=` likewise. Runs in linear time:
 * one pass cuts the text into runs of URL characters, and each run is searched once per pattern.
 */
export function hidePasswords(text: string): string {
  return text
    .replaceAll(/[^\s"\\]+/g, hideInRun)
    .replaceAll(/([?&](?:password|sslpassword)=)[^\s&"\\]*/gi, '$1***');
}

/** A password may contain `:`, `/` and `@`. It extends from the first user's colon to the last `@` of the run. */
function hideInRun(run: string): string {
  const at = run.lastIndexOf('@');
  if (at < 0) return run;
  // A failed match ends at the next `/`, `:` or `@`, so that attempts hardly overlap.
  const user = /\w:\/\/[^/:@]*:/.exec(run);
  if (user === null) return run;
  const colon = user.index + user[0].length;
  return colon > at ? run : `${run.slice(0, colon)}***${run.slice(at)}`;
}

/**
 * Replaces API keys and tokens of sessions, links and browsers, such as `svc_…`, with `svc_***`. Texts should not contain
 * any; this guards against mistakes.
 */
export function hideTokens(text: string): string {
  return text.replaceAll(/\b(svc|ses|lnk|dev|inv|rsl|edge)_[0-9A-Za-z_]{20,}/g, '$1_***');
}
