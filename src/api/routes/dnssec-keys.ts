// Manages the keys of another operator that signs the same domain during a move (RFC 8901 §2.2.2), and imports and
// exports private keys.

import type { z } from 'zod';
import { importForeignKeys, replaceForeignKeys } from '../../store/dnssec/foreign-keys.ts';
import { exportPrivateKeys, importPrivateKeys } from '../../store/dnssec/private-keys.ts';
import { describeKey, type GivenKey, readDnskey, readPrivateKeys } from '../../zone/signing/private-key.ts';
import { flagsOf } from '../../zone/signing/signing-key.ts';
import { refuseDnssec } from '../actions/refuse-dnssec.ts';
import { forbidden, invalid, notFound, Problem } from '../answers/problem.ts';
import { domain, route } from '../calls/route.ts';
import { ExportPrivateKeys, ForeignKeyList, ImportPrivateKeys, PrivateKeys } from '../schemas/dnssec.ts';
import { answerChanged, orderOf, WRITE } from './dnssec.ts';

const MAX_BYTES = 16 * 1024;

const putForeignKeys = route(domain('domain.settings'), {
  ...WRITE,
  method: 'PUT',
  path: '/domains/{domain}/dnssec/foreign-keys',
  operationId: 'putForeignKeys',
  summary:
    "Sets the keys of another operator, which are published in the DNSKEY set together with the domain's own.",
  description:
    'For moving a domain that stays signed throughout: each operator publishes the keys of the other. A key that is removed from the list stays published until its DS is no longer at the parent and no resolver can hold answers that it signed. `findings` reports this.',
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

const importKeys = route(domain('domain.settings'), {
  ...WRITE,
  path: '/domains/{domain}/dnssec/import-keys',
  operationId: 'importKeys',
  summary: 'Fetches the keys of another operator from the nameservers that the parent names.',
  description:
    'Within seconds, the fetched keys replace the list of foreign keys if they verify with a DS record that every address of the parent shows. `foreign_import` contains the result. At most once in five minutes.',
  problems: ['wrong_state', 'dnssec_busy', 'dnssec_unavailable'],
  run: async (call) => await answerChanged(call, await importForeignKeys(call.api.db, orderOf(call))),
});

const importPrivate = route(domain('dnssec.keys'), {
  ...WRITE,
  path: '/domains/{domain}/dnssec/import-private-keys',
  operationId: 'importPrivateKeys',
  summary: 'Signs a domain with the keys that it has at another operator, so that its DS stays.',
  description:
    'The keys are stored encrypted. Change the nameservers when `findings` contains `FOREIGN_NS_READY`. Algorithms 13 and 15 are supported. Refused while a DS of other keys of this service is at the parent, or was requested. Keys other than those imported before require `replace` (409 `dnssec_imported`). Importing the same keys again changes nothing.',
  body: ImportPrivateKeys,
  bodyBytes: MAX_BYTES,
  problems: ['wrong_state', 'dnssec_busy', 'dnssec_algorithm', 'dnssec_imported', 'dnssec_unavailable'],
  run: async (call) => {
    const given = givenKeys(call.body.keys);
    if (given instanceof Problem) return given;
    const read = readPrivateKeys(given);
    if (read.kind === 'refused')
      return invalid([{ field: `keys[${read.index}].private_key`, error: read.message }]);
    const { denial, replace } = call.body;
    const order = { ...orderOf(call), keys: read.keys, denial, replace };
    return await answerChanged(call, await importPrivateKeys(call.api.db, order));
  },
});

function givenKeys(keys: z.output<typeof ImportPrivateKeys>['keys']): GivenKey[] | Problem {
  const given: GivenKey[] = [];
  for (const [i, { private_key: privateKey, flags, dnskey: text }] of keys.entries()) {
    const dnskey = text === undefined ? undefined : readDnskey(text);
    if (text !== undefined && dnskey === undefined)
      return invalid([
        { field: `keys[${i}].dnskey`, error: 'must consist of flags, protocol, algorithm and key' },
      ]);
    const all = flags ?? (dnskey && flagsOf(dnskey));
    if (all === undefined)
      return invalid([{ field: `keys[${i}].flags`, error: 'is required unless dnskey contains it' }]);
    given.push({ privateKey, flags: all, dnskey });
  }
  return given;
}

const exportPrivate = route(domain('dnssec.keys'), {
  method: 'POST',
  path: '/domains/{domain}/dnssec/export-private-keys',
  operationId: 'exportPrivateKeys',
  audit: 'domain.export_keys',
  tag: 'DNSSEC',
  summary: 'Returns the private keys of a domain, so that another operator can sign it with them.',
  description:
    'Each call is recorded in the audit log. The response is not stored, so the call accepts no Idempotency-Key. An API key that is restricted to domains cannot make it.',
  idempotent: false,
  body: ExportPrivateKeys.nullish(),
  response: PrivateKeys,
  problems: ['wrong_state', 'dnssec_busy', 'dnssec_unavailable'],
  async run(call) {
    const { api, caller, body, audit } = call;
    if (caller.key.domains !== null)
      return forbidden('this API key is restricted to certain domains or records');
    const format = body?.format ?? 'bind';
    const exported = await exportPrivateKeys(api.db, { ...orderOf(call), keyId: body?.key_id });
    if (exported.kind === 'absent') return notFound('domain');
    if (exported.kind === 'refused') return refuseDnssec(exported);
    audit({ after: { key_tags: exported.keys.map(({ tag }) => tag), format } });
    return { keys: exported.keys.map((key) => describeKey(key, format)) };
  },
});

export const DNSSEC_KEY_ROUTES = [putForeignKeys, importKeys, importPrivate, exportPrivate];
