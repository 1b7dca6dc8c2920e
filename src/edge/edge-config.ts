// Configuration of one domain for edge nodes: the JSON of `GET /edge/v1/config`. Members have their wire names, and unset
// ones are absent. An edge serves a host with the longest domain that matches its end.

import type { EdgeRule } from './edge-rule.ts';

export interface EdgeConfig {
  readonly domain_id: number;
  /** A-label, lower case, without the trailing dot. */
  readonly domain: string;
  readonly status: 'pending' | 'active' | 'moved';
  /** Suspended for billing: the edge refuses the domain's TLS handshakes and answers HTTP only with 403. */
  readonly suspended: boolean;
  readonly settings: EdgeSettings;
  /** Proxied names. Exact ones precede wildcards, and longer wildcards precede shorter ones. */
  readonly hosts: readonly EdgeHost[];
  /** Enabled rules in evaluation order: by type, priority and id. */
  readonly rules: readonly EdgeRule[];
  /** Challenge responses: GET http://HOST/.well-known/acme-challenge/TOKEN (RFC 8555 §8.3), before all rules. */
  readonly http01: readonly EdgeChallenge[];
  /** The newest certificates that cover the proxied names. Keys are read with `GET /edge/v1/certificates/{id}`. */
  readonly certificates: readonly EdgeCertificate[];
}

export interface EdgeSettings {
  readonly cache_l2_max_gb: number;
  readonly cache_l2_ttl_days: number;
  readonly cache_cap_mb: number;
  /** RFC 3339. Until then, the cache is neither read nor written. */
  readonly developer_mode_until?: string;
  /** X-Content-Type-Options: nosniff. */
  readonly sec_no_sniff: boolean;
  /** Referrer-Policy: strict-origin-when-cross-origin. */
  readonly sec_referrer_policy: boolean;
  /** Remove Server, X-Powered-By and similar headers from the origin's responses. */
  readonly sec_strip_headers: boolean;
  /** Convert HTML to Markdown for clients that accept text/markdown. */
  readonly markdown_for_agents: boolean;
  readonly websockets: boolean;
}

export interface EdgeHost {
  /** `www.example.com`, or `*.example.com` for every name below it without its own host. */
  readonly host: string;
  /** Used in turn if there are several. */
  readonly origins: readonly EdgeOrigin[];
  /** Visitors solve a challenge before the origin is contacted. */
  readonly captcha: boolean;
}

export interface EdgeOrigin {
  readonly record_id: number;
  /** An address, or a host name without the trailing dot, which the edge resolves and checks against `ORIGIN_ALLOW`. */
  readonly destination: string;
  /** `default`: the scheme of the request. `auto`: the edge probes. */
  readonly scheme: 'http' | 'https' | 'auto' | 'default';
  readonly port: number;
  /** Host and SNI. Absent: the host of the request. */
  readonly host_header?: string;
  readonly timeout_seconds: number;
  /** Its responses count for the uptime of the domain. */
  readonly monitor: boolean;
}

export interface EdgeChallenge {
  readonly host: string;
  readonly token: string;
  readonly key_authorization: string;
}

export interface EdgeCertificate {
  readonly id: number;
  readonly names: readonly string[];
  /** RFC 3339. */
  readonly not_after: string;
  /** SHA-256 of the leaf in hexadecimal. */
  readonly sha256: string;
}
