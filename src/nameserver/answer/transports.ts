// The transports over which clients send queries.

export const TRANSPORTS = ['udp', 'tcp', 'tls', 'https'] as const;
export type Transport = (typeof TRANSPORTS)[number];
/** Index into TRANSPORTS. */
export type TransportIndex = 0 | 1 | 2 | 3;
export const TRANSPORT = { UDP: 0, TCP: 1, TLS: 2, HTTPS: 3 } as const satisfies Record<
  string,
  TransportIndex
>;
