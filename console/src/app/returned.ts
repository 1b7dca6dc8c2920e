// Reads the identity provider's response in the query of /console/oidc, and the data that the console had kept before.

export type Purpose = 'sign-in' | 'confirm' | 'link';
const PURPOSES: readonly string[] = ['sign-in', 'confirm', 'link'];

/** Kept in the browser's tab while the provider's page is open. */
export interface Kept {
  readonly purpose: Purpose;
  /** Path of the console to open afterwards. */
  readonly page: string;
}

interface Parameters {
  readonly code: string;
  readonly state: string;
  readonly iss?: string;
}

/** Returns undefined if the provider did not authenticate the person. */
export function readParameters(search: string): Parameters | undefined {
  const query = new URLSearchParams(search);
  const [code, state, iss] = [query.get('code'), query.get('state'), query.get('iss')];
  if (code === null || state === null) return undefined;
  return { code, state, ...(iss !== null && { iss }) };
}

/** Returns the start page if nothing valid was kept. A path outside the console is never opened. */
export function readKept(text: string | null): Kept {
  const fallback: Kept = { purpose: 'sign-in', page: '/console/domains' };
  try {
    const { purpose, page } = JSON.parse(text ?? '') as { purpose?: unknown; page?: unknown };
    if (typeof purpose !== 'string' || !PURPOSES.includes(purpose)) return fallback;
    const isOwn = typeof page === 'string' && /^\/console\/(?!oidc([/?#]|$))/.test(page);
    return { purpose: purpose as Purpose, page: isOwn ? page : fallback.page };
  } catch {
    return fallback;
  }
}
