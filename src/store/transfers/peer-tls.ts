// The TLS settings of peers (RFC 9103).

/**
 * `opportunistic`: transfers from the peer try TLS first, verify nothing, and fall back to TCP. `strict`: transfers in both
 * directions require TLS, and those from the peer a verified server.
 */
export const PEER_TLS_MODES = ['off', 'opportunistic', 'strict'] as const;
export type PeerTlsMode = (typeof PEER_TLS_MODES)[number];

export const DNS_OVER_TLS_PORT = 853;

export interface PeerTls {
  readonly mode: PeerTlsMode;
  /** Port for transfers from the peer. */
  readonly port: number;
  /** The name that the peer's certificate must have, without the final dot. Null if only pins are verified. */
  readonly name: string | null;
  /** SHA-256 of public keys (SubjectPublicKeyInfo), of which the peer must have one. Empty for any key. */
  readonly pins: readonly Uint8Array[];
}

export const WITHOUT_TLS: PeerTls = { mode: 'off', port: DNS_OVER_TLS_PORT, name: null, pins: [] };
