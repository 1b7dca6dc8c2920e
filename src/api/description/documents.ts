// The two documents, of what customers may call and of what only global admins may, and the removed paths, whose refusal names
// the replacement.

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
    summary: 'Removed: read the subscriptions of a domain.',
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
  403: 'The account is inactive, its reseller manages it, or API keys may not write here. Codes: `account_suspended`, `managed_by_reseller`.',
  410: 'It was removed. `error` is `route_removed`, `message` says what to use instead.',
};

/** `refusal` makes the response of a status. Without words it uses those of the status. */
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
  /** The name under which the plugin gives the document. */
  readonly decorator: 'swagger' | 'adminSwagger' | 'edgeSwagger';
  readonly title: string;
  readonly about: string;
  readonly tags: Readonly<Record<string, string>>;
  readonly security: OpenAPIV3_1.SecurityRequirementObject[];
  readonly schemes: Readonly<Record<string, OpenAPIV3_1.SecuritySchemeObject>>;
  readonly closed: typeof CLOSED_PATHS;
}

const ABOUT = `Domains, their DNS records and the log of their changes.

Send a key as \`Authorization: Bearer svc_…\` or as \`X-Api-Key: svc_…\`; people sign in and have a session. Every success is 200 with a body. Every error has
\`error\` for people and sometimes \`code\` for programs. Members that are not set are absent. Paths are taken as written:
the final slash counts; a wrong method is 405 with \`Allow\`, an unknown query parameter 400. Lists are bare arrays: whole without \`limit\`, else a page with a \`Link\` to the next.
A POST (and a batch) may carry an \`Idempotency-Key\`: a repeat of it is answered with what the first one got.

Every call can be refused with 403 \`account_suspended\` while the account is inactive, with a session also with 503 \`session_check_failed\`: keep it, and try again.
A write by cookie from a page of another site is 403 \`foreign_origin\`. No key may use what is below \`/users\`, \`/auth\`, \`/billing\` and \`/admin\` (403).`;

const TAGS: Readonly<Record<string, string>> = {
  Domains: 'Domains, their settings and their state.',
  Records: 'The DNS records of a domain, one by one and in bulk.',
  Changes: 'The log of what was done, and taking it back.',
  Checks: 'What the parent zone says of a domain.',
  DNSSEC: 'Signatures of a domain, and what the registrar has to show for them.',
  Sharing: 'Who else may see and change a domain.',
  Plans: 'What a domain may do, and until when.',
  Reseller: 'Clients of a reseller, their money and their services, and machine tokens.',
  "Clients' domains": "What the calls of customers do, for a client's domain by its number.",
  'Signing in': 'Sessions of people, passwords and the second step.',
  'Your account': 'Who you are, your keys and your sessions.',
};

const ABOUT_ADMIN = `What the operators of this service do: accounts, domains of all accounts, plans, the fleet, the audit log.

Only the session of a global admin reaches it: a key gets 403, and for everybody else there is no such path (404). A write needs a password that was
given within 15 minutes (\`POST /auth/confirm\`), else it is 403 \`reauthenticate\`. Errors, lists and \`Idempotency-Key\` are as in \`/openapi.yaml\`.`;

const ADMIN_TAGS: Readonly<Record<string, string>> = {
  Accounts: 'Accounts, their rights, their keys, and links for their owners.',
  Domains: 'Domains of all accounts, and what only operators do to them.',
  Plans: 'What is sold, and for how much.',
  Fleet: 'Nameservers, observers, queues and the breaker.',
  Audit: 'Who did what.',
};

const BEARER = {
  type: 'http',
  scheme: 'bearer',
  description:
    'An API key, `svc_…`, or the token of a session, `ses_…`. Below `/reseller/v1` the token of a session of a reseller, or a machine token, `rsl_…`.',
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
  description: 'The session of a browser. Writes need the `Origin` of the service.',
} as const;
const VANTAGE = {
  type: 'apiKey',
  in: 'header',
  name: 'X-Vantage-Signature',
  description:
    'For observers: an Ed25519 signature in base64, with `X-Vantage-Name`, `-Time`, `-Nonce` and `-Digest`, as docs/api.md "Observers" says.',
} as const;

const GATEWAY = {
  type: 'apiKey',
  in: 'header',
  name: 'Zonefleet-Signature',
  description:
    'For payment gateways: `t=SECONDS,v1=HEX`, the time and the HMAC-SHA256 of `SECONDS.BODY` with the secret that they share with us; at most 5 minutes old.',
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

const ABOUT_EDGE = `What edge nodes (reverse proxies of the operator) call: the configs of the domains that they serve, and what they say of themselves.

Send the token that \`zonefleet edge create\` printed as \`Authorization: Bearer edge_…\`; it counts on these paths alone, and nothing else counts here.
Every error has \`error\` for people and sometimes \`code\` for programs. Members that are not set are absent; edges ignore members that they do not know.`;

export const EDGE_DOCUMENT: DescribedSurface = {
  decorator: 'edgeSwagger',
  title: 'Zonefleet for edges',
  about: ABOUT_EDGE,
  tags: { Edges: 'What edges are told, and what they tell.' },
  security: [{ bearer: [] }],
  schemes: { bearer: { ...BEARER, description: 'The token of an edge, `edge_…`.' } },
  closed: [],
};

/** Customers are shown no call that they cannot make. */
export const ADMIN_DOCUMENT: DescribedSurface = {
  decorator: 'adminSwagger',
  title: 'Zonefleet administration',
  about: ABOUT_ADMIN,
  tags: ADMIN_TAGS,
  security: [{ bearer: [] }, { session: [] }],
  schemes: { bearer: { ...BEARER, description: 'The token of a session, `ses_…`.' }, session: SESSION },
  closed: [],
};
