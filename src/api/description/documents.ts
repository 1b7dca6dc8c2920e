// The three documents (for customers, for global admins, for edges), and the removed paths, whose responses name the
// replacement.

import type { OpenAPIV3_1 } from 'openapi-types';
import type { Method } from '../calls/route.ts';

interface ClosedPath {
  readonly method: Method;
  readonly path: string;
  readonly operationId: string;
  readonly summary: string;
}

const SUBSCRIPTION_WRITES = ['purchase', 'switch', 'auto-renew'] as const;

export const CLOSED_PATHS: readonly ClosedPath[] = [
  {
    method: 'GET',
    path: '/subscriptions/current',
    operationId: 'removedCurrentSubscription',
    summary: 'Removed: use `GET /domains/{domain}/subscriptions`.',
  },
  ...SUBSCRIPTION_WRITES.map(
    (what): ClosedPath => ({
      method: 'POST',
      path: `/subscriptions/${what}`,
      operationId: `removed${camelCase(what)}`,
      summary: 'Removed: subscriptions belong to a domain.',
    }),
  ),
];

function camelCase(what: string): string {
  return what.replaceAll(/(?:^|-)(\w)/g, (_, letter: string) => letter.toUpperCase());
}

const WORDS: Readonly<Record<number, string>> = {
  403: 'The account is inactive, its reseller manages it, or API keys may not write to this path. Codes: `account_suspended`, `managed_by_reseller`.',
  410: 'The path was removed. `error` is `route_removed`, and `message` says what to use instead.',
};

/** `refusal` builds the response of a status. Without `words`, it uses the default description of the status. */
export function describeClosed(
  { operationId, summary }: ClosedPath,
  refusal: (status: number, words: string | undefined) => OpenAPIV3_1.ResponseObject,
): OpenAPIV3_1.OperationObject {
  const statuses = [400, 401, 403, 410, 429, 500, 503];
  return {
    operationId,
    tags: ['Plans'],
    summary,
    deprecated: true,
    responses: Object.fromEntries(statuses.map((status) => [status, refusal(status, WORDS[status])])),
  };
}

export interface DescribedSurface {
  /** Name under which the plugin adds the document to the app. */
  readonly decorator: 'swagger' | 'adminSwagger' | 'edgeSwagger';
  readonly title: string;
  readonly about: string;
  readonly tags: Readonly<Record<string, string>>;
  readonly security: OpenAPIV3_1.SecurityRequirementObject[];
  readonly schemes: Readonly<Record<string, OpenAPIV3_1.SecuritySchemeObject>>;
  readonly closed: typeof CLOSED_PATHS;
}

const ABOUT = `Domains, their DNS records and the log of their changes.

Send an API key as \`Authorization: Bearer svc_…\` or as \`X-Api-Key: svc_…\`. People sign in and use a session instead. Every success is 200 with a body.
Every error has a text for people in \`error\`, and some have a \`code\` for programs. Members that are not set are absent.
Paths are matched exactly: a trailing slash makes a different path. A wrong method is 405 with \`Allow\`, and an unknown query parameter is 400.
Lists are bare arrays: complete without \`limit\`, otherwise one page with a \`Link\` to the next. A POST (and a batch) may carry an \`Idempotency-Key\`:
repeating the call with the same key returns the first response.

While the account is inactive, every call can be refused with 403 \`account_suspended\`. With a session, every call can also be refused with 503 \`session_check_failed\`:
keep the session, and try again. A write with a session cookie from another site's page is refused with 403 \`foreign_origin\`.
API keys may not call the paths below \`/users\`, \`/auth\`, \`/billing\` and \`/admin\` (403).`;

const TAGS: Readonly<Record<string, string>> = {
  Domains: 'Domains, their settings and their state.',
  Records: 'The DNS records of a domain, individually and in bulk.',
  Changes: 'The log of changes, and reverting them.',
  Checks: 'Checks of the delegation of a domain at its parent zone.',
  DNSSEC: 'Signing of a domain, and the DS records to enter at the registrar.',
  Sharing: 'Other accounts that may read or change a domain.',
  Plans: 'Features and limits of a domain, and its subscriptions.',
  Reseller: 'Clients of a reseller, their wallets and services, and machine tokens.',
  "Clients' domains": "The calls of customers, for a client's domain that is identified by its number.",
  'Signing in': 'Sessions, passwords and two-step sign-in.',
  'Your account': 'Your profile, API keys and sessions.',
};

const ABOUT_ADMIN = `Administration of this service: accounts, domains of all accounts, plans, the fleet and the audit log.

Only the session of a global admin may call these paths: an API key gets 403, and everyone else gets 404, as for an unknown path. A write requires that the password
was confirmed within the last 15 minutes (\`POST /auth/confirm\`), otherwise it is refused with 403 \`reauthenticate\`. Errors, lists and \`Idempotency-Key\` are as in \`/openapi.yaml\`.`;

const ADMIN_TAGS: Readonly<Record<string, string>> = {
  Accounts: 'Accounts, their rights, API keys and sign-in links.',
  Domains: 'Domains of all accounts, and operations that only operators may perform.',
  Plans: 'Plans on sale, and their prices.',
  Fleet: 'Nameservers, observers, queues and the breaker.',
  Audit: 'The log of who did what.',
};

const BEARER = {
  type: 'http',
  scheme: 'bearer',
  description:
    'An API key, `svc_…`, or a session token, `ses_…`. Below `/reseller/v1`, the session token of a reseller or a machine token, `rsl_…`.',
} as const;
const API_KEY = {
  type: 'apiKey',
  in: 'header',
  name: 'X-Api-Key',
  description: 'An API key, `svc_…`.',
} as const;
const SESSION = {
  type: 'apiKey',
  in: 'cookie',
  name: '__Host-session',
  description: 'The session of a browser. Writes require the `Origin` of the service.',
} as const;
const VANTAGE = {
  type: 'apiKey',
  in: 'header',
  name: 'X-Vantage-Signature',
  description:
    'For observers: an Ed25519 signature in base64, with `X-Vantage-Name`, `-Time`, `-Nonce` and `-Digest`, as described in docs/api.md "Observers".',
} as const;

const GATEWAY = {
  type: 'apiKey',
  in: 'header',
  name: 'Zonefleet-Signature',
  description:
    'For payment gateways: `t=SECONDS,v1=HEX`, which are the time and the HMAC-SHA256 of `SECONDS.BODY` with the secret shared by the gateway and this service. At most 5 minutes old.',
} as const;

export const CUSTOMER_DOCUMENT: DescribedSurface = {
  decorator: 'swagger',
  title: 'Zonefleet',
  about: ABOUT,
  tags: TAGS,
  security: [{ bearer: [] }, { apiKey: [] }, { session: [] }],
  schemes: { bearer: BEARER, apiKey: API_KEY, session: SESSION, vantage: VANTAGE, gateway: GATEWAY },
  closed: CLOSED_PATHS,
};

const ABOUT_EDGE = `The API of edge nodes (reverse proxies of the operator): they receive the configurations of the domains that they serve, and report their state.

Send the token that \`zonefleet edge create\` printed as \`Authorization: Bearer edge_…\`; it is valid on these paths only, and no other credential is valid here.
Every error has a text for people in \`error\`, and some have a \`code\` for programs. Members that are not set are absent. Edges must ignore unknown members.`;

export const EDGE_DOCUMENT: DescribedSurface = {
  decorator: 'edgeSwagger',
  title: 'Zonefleet for edges',
  about: ABOUT_EDGE,
  tags: { Edges: 'Configurations that edges receive, and reports that they send.' },
  security: [{ bearer: [] }],
  schemes: { bearer: { ...BEARER, description: 'The token of an edge, `edge_…`.' } },
  closed: [],
};

/** A separate document: customers should not see calls that they may not make. */
export const ADMIN_DOCUMENT: DescribedSurface = {
  decorator: 'adminSwagger',
  title: 'Zonefleet administration',
  about: ABOUT_ADMIN,
  tags: ADMIN_TAGS,
  security: [{ bearer: [] }, { session: [] }],
  schemes: { bearer: { ...BEARER, description: 'A session token, `ses_…`.' }, session: SESSION },
  closed: [],
};
