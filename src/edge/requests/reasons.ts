// The closed list of reasons why a request got no response from its origin, with explanations for users.

type Fault = 'client' | 'origin' | 'network' | 'config';

interface Reason {
  readonly label: string;
  /** The party that is responsible. */
  readonly fault: Fault;
  readonly meaning: string;
  /** Status that visitors usually get. */
  readonly status: number;
}

export const REASONS = {
  origin_unresolved: {
    label: 'Origin name not found',
    fault: 'config',
    meaning: 'The name of the origin has no address in the DNS.',
    status: 502,
  },
  origin_unreachable: {
    label: 'Origin not reachable',
    fault: 'network',
    meaning:
      'No connection to the origin was possible: it refused the connection, its address did not answer, or the TLS handshake failed in a way that the edge cannot distinguish.',
    status: 502,
  },
  origin_timeout: {
    label: 'Origin too slow',
    fault: 'origin',
    meaning: 'The origin accepted the request but did not respond within the time limit of the record.',
    status: 504,
  },
  origin_broke_off: {
    label: 'Origin broke off',
    fault: 'origin',
    meaning:
      'The origin closed the connection before its response was complete, or the response was not valid HTTP.',
    status: 502,
  },
  origin_tls_failed: {
    label: 'No TLS with the origin',
    fault: 'origin',
    meaning: 'The TLS handshake with the origin failed.',
    status: 502,
  },
  origin_refused: {
    label: 'Origin address not allowed',
    fault: 'config',
    meaning:
      'The origin has no address that an edge may connect to: its addresses are private or belong to this service.',
    status: 502,
  },
  no_origin: {
    label: 'No origin',
    fault: 'config',
    meaning: 'No origin is available: all origins of the pool are out of service, or none is configured.',
    status: 502,
  },
  loop: {
    label: 'Request loop',
    fault: 'config',
    meaning: 'The request has already passed through this edge: an origin points back to this service.',
    status: 508,
  },
  suspended: {
    label: 'Domain suspended',
    fault: 'config',
    meaning: 'The domain is suspended, so the edge no longer answers for it.',
    status: 403,
  },
  edge_fault: {
    label: 'Fault of the edge',
    fault: 'network',
    meaning: 'The edge could not process the request.',
    status: 500,
  },
  client_closed: {
    label: 'Visitor has left',
    fault: 'client',
    meaning: 'The visitor closed the connection before the response.',
    status: 499,
  },
  client_bad_request: {
    label: 'Request not readable',
    fault: 'client',
    meaning: 'The request is not valid HTTP, or exceeds the limits of the edge.',
    status: 400,
  },
  client_timeout: {
    label: 'Visitor too slow',
    fault: 'client',
    meaning: 'The visitor did not send the complete request in time.',
    status: 408,
  },
  rule_blocked: {
    label: 'Blocked by a rule',
    fault: 'client',
    meaning: 'A rule of the domain blocked the request.',
    status: 403,
  },
  rule_limited: {
    label: 'Limited by a rule',
    fault: 'client',
    meaning: 'The visitor sent more requests than a rule of the domain allows.',
    status: 429,
  },
} as const satisfies Readonly<Record<string, Reason>>;

export type ReasonKey = keyof typeof REASONS;

export function isReason(text: string): text is ReasonKey {
  return Object.hasOwn(REASONS, text);
}
