// A client whose types are made from the description: a wrong path, member or value does not compile.

import createClient from 'openapi-fetch';
import type { paths } from './api.js';

declare const process: { readonly argv: readonly string[] };

const [baseUrl = '', key = ''] = process.argv.slice(2);
const api = createClient<paths>({ baseUrl, headers: { 'X-Api-Key': key } });

const domain = await api.POST('/domains/', {
  body: { name: 'client.example', dns_mode: 'managed', scan: false },
});
if (domain.data === undefined) throw new Error(domain.error.error);
const path = { domain: domain.data.name };
const record = await api.POST('/domains/{domain}/records/', {
  params: { path },
  body: { name: 'www', type: 'A', destination: '192.0.2.1', ttl: 600 },
});
if (record.data === undefined) throw new Error(record.error.error);
const id: number = record.data.id;
// @ts-expect-error a path that is not described
await api.GET('/domains/{domain}/nothing', { params: { path } });
await api.PUT('/domains/{domain}/records/{id}', {
  params: { path: { ...path, id } },
  // @ts-expect-error a destination is text
  body: { destination: 1 },
});
const listed = await api.GET('/domains/{domain}/records/', {
  params: { path, query: { type: 'A', limit: 10 } },
});
const refused = await api.GET('/domains/{domain}/records/{id}', {
  params: { path: { ...path, id: 999_999_999 } },
});
console.log(
  JSON.stringify({
    listed: listed.data?.map(({ name, destination, ttl }) => [name, destination, ttl]),
    refused: [refused.response.status, refused.error?.error],
  }),
);
