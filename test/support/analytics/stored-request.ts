// Rows of requests for the analytics store, as after edges have reported them.

export function storedRequest(at: Date, more: object): object {
  return {
    at: at.toISOString().slice(0, -1).replace('T', ' '),
    edge_id: 1,
    method: 'GET',
    uri: '/',
    status: 200,
    octets: 1,
    ms: 1,
    client: '192.0.2.0',
    visitor: '1',
    ...more,
  };
}
