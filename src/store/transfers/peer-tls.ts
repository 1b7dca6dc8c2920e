// The TLS settings of peers (RFC 9103).

/**
 * `opportunistic`: transfers from the peer try TLS first, verify nothing, and fall back to TCP. `strict`: transfers in both
 * directions require TLS, and those from the peer a verified server.
 */
export const PEER_TLS_MODES = ['off', 'opportunistic', 'strict'] as const;
export type PeerTlsMode = (typeof PEER_TLS_MODES)[number];
