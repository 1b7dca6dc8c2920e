// Keys of another operator that signs the same domain, before it comes here or after it has left (RFC 8901 §2.2.2).

import { importForeignKeys, replaceForeignKeys } from '../../store/dnssec/foreign-keys.ts';
import { domainRoute } from '../calls/route.ts';
import { ForeignKeyList } from '../schemas/dnssec.ts';
import { answerChanged, orderOf, WRITE } from './dnssec.ts';

const putForeignKeys = domainRoute({
  ...WRITE,
  method: 'PUT',
  path: '/domains/{domain}/dnssec/foreign-keys',
  operationId: 'putForeignKeys',
  summary: 'Says which keys of another operator stand in the DNSKEY set beside those of the domain.',
  description:
    'For a move without a time in which the domain is not signed: each operator publishes the keys of the other. A key that is taken from the list stays until its DS is gone from the parent and no resolver can hold answers that it signed; `findings` says so.',
  body: ForeignKeyList,
  problems: ['wrong_state', 'dnssec_busy', 'dnssec_algorithm', 'dnssec_unavailable'],
  run: async (call) => {
    const keys = call.body.keys.map(({ public_key, ...key }) => ({
      ...key,
      publicKey: new Uint8Array(Buffer.from(public_key, 'base64')),
    }));
    return await answerChanged(call, await replaceForeignKeys(call.api.db, { ...orderOf(call), keys }));
  },
});

const importKeys = domainRoute({
  ...WRITE,
  path: '/domains/{domain}/dnssec/import-keys',
  operationId: 'importKeys',
  summary: 'Fetches the keys of another operator from the nameservers that the parent names.',
  description:
    'Within seconds they replace the list of foreign keys, if they verify with a DS record that every address of the parent shows; `foreign_import` says what came of it. At most once in five minutes.',
  problems: ['wrong_state', 'dnssec_busy', 'dnssec_unavailable'],
  run: async (call) => await answerChanged(call, await importForeignKeys(call.api.db, orderOf(call))),
});

export const DNSSEC_KEY_ROUTES = [putForeignKeys, importKeys];
