// The callers of the walks by name. fixtures/api-access/README.md describes them.

export const ROLES = ['viewer', 'editor', 'admin', 'owner', 'operator', 'stranger'] as const;
export const CALLERS = [
  'no credential',
  'unknown key',
  'expired key',
  'read-only key',
  'key for another domain',
  'key for some records',
  ...ROLES,
  'inactive account',
  'client',
  "client's session",
  'session',
  'session without Origin',
  'session from another Origin',
  'session with an old password',
  "operator's session",
  "operator's session with an old password",
  'X-Api-Key',
  'owner of a disabled domain',
  'owner of a banned domain',
  'observer',
] as const;

export const CALLER_GROUPS = {
  'no valid key': CALLERS.slice(0, 3),
  'limited keys': CALLERS.slice(3, 6),
  'keys of every role': ROLES,
  sessions: CALLERS.filter((caller) => caller.startsWith('session')),
  "operator's sessions": CALLERS.filter((caller) => caller.startsWith("operator's")),
};

export type WalkCaller = (typeof CALLERS)[number];

export const RESELLER_CALLERS = [
  'no credential',
  'session in a cookie',
  'expired token',
  'revoked token',
  'API key',
  'session of another account',
  'inactive reseller',
  'session',
  'token',
  'session with an old password',
  'another reseller',
] as const;
export const RESELLER_GROUPS = { 'no valid token': RESELLER_CALLERS.slice(0, 4) };
export type ResellerCaller = (typeof RESELLER_CALLERS)[number];
