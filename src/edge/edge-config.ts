// What an edge node is told of one domain: the JSON of `GET /edge/v1/config`. Members are spelled as on the wire; what is unset
// is absent. An edge serves a host by the domain with the longest name that the host ends with.

import type { EdgeRule } from './edge-rule.ts';

export interface EdgeConfig {
  readonly domain_id: number;
  /** A-label, lower case, without the final dot. */
  readonly domain: string;
  readonly status: 'pending' | 'active' | 'moved';
  /** Paused for billing: the edge refuses the domain's TLS handshakes and answers nothing over HTTP but 403. */
  readonly suspended: boolean;
  readonly settings: EdgeSettings;
  /** The proxied names; exact ones are found before wildcards, the longer wildcard before the shorter. */
  readonly hosts: readonly EdgeHost[];
  /** Enabled rules in the order in which they act: by type, priority, id. */
  readonly rules: readonly EdgeRule[];
  /** Answers to challenges: GET http://HOST/.well-known/acme-challenge/TOKEN (RFC 8555 §8.3), before all rules. */
  readonly http01: readonly EdgeChallenge[];
  /** The newest that cover the proxied names; the key is read by `GET /edge/v1/certificates/{id}`. */
  readonly certificates: readonly EdgeCertificate[];
}

export interface EdgeSettings {
  readonly cache_l2_max_gb: number;
  readonly cache_l2_ttl_days: number;
  readonly cache_cap_mb: number;
  /** RFC 3339. While in the future, the cache is neither read nor written. */
  readonly developer_mode_until?: string;
  /** X-Content-Type-Options: nosniff. */
  readonly sec_no_sniff: boolean;
  /** Referrer-Policy: strict-origin-when-cross-origin. */
  readonly sec_referrer_policy: boolean;
  /** Server, X-Powered-By and their like are taken out of what the origin answers. */
  readonly sec_strip_headers: boolean;
  /** HTML is answered as Markdown to who accepts text/markdown. */
  readonly markdown_for_agents: boolean;
  readonly websockets: boolean;
}

export interface EdgeHost {
  /** `www.example.com`, or `*.example.com` for every name below that has no host of its own. */
  readonly host: string;
  /** Taken in turn when there are several. */
  readonly origins: readonly EdgeOrigin[];
  /** Visitors solve a challenge before the origin is asked. */
  readonly captcha: boolean;
}

export interface EdgeOrigin {
  readonly record_id: number;
  /** An address, or a host name without the final dot, which the edge resolves and judges by `ORIGIN_ALLOW`. */
  readonly destination: string;
  /** `default`: as the request came; `auto`: the edge probes. */
  readonly scheme: 'http' | 'https' | 'auto' | 'default';
  readonly port: number;
  /** Host and SNI; absent: the host of the request. */
  readonly host_header?: string;
  readonly timeout_seconds: number;
  /** Its answers count for the uptime of the domain. */
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
  /** Of the leaf, hexadecimal. */
  readonly sha256: string;
}
