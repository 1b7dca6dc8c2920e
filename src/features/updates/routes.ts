// Routes of the grants of a domain (docs/api.md "Dynamic update").

import type { z } from 'zod';
import { invalid, notFound } from '../../api/answers/problem.ts';
import { domain, route } from '../../api/calls/route.ts';
import { foldCase, type Name } from '../../dns/name.ts';
import { typeMnemonic } from '../../dns/type-codes.ts';
import { listDomainGrants, replaceDomainGrants, type StoredUpdateGrant } from '../../store/updates/grants.ts';
import { wireTypeCode } from '../../zone/records/customer-types.ts';
import { parseRecordName, printRecordName } from '../../zone/records/record-name.ts';
import { describeGrant } from './rules.ts';
import { NewUpdateGrants, UpdateGrants } from './schema.ts';

const tag = 'Dynamic update';
const path = '/domains/{domain}/update-grants';

const getUpdateGrants = route(domain('domain.settings', { whileDisabled: true, wholeKeys: true }), {
  method: 'GET',
  path,
  operationId: 'getUpdateGrants',
  tag,
  summary: 'The names and types that TSIG keys may change in the domain by dynamic update.',
  response: UpdateGrants,
  run: async ({ api, domain }) => print(await listDomainGrants(api.db, domain.id), domain.name),
});

const putUpdateGrants = route(domain('domain.settings'), {
  method: 'PUT',
  path,
  operationId: 'putUpdateGrants',
  audit: 'update_grants.edit',
  tag,
  summary: 'Replaces the names and types that TSIG keys may change in the domain by dynamic update.',
  description:
    "A key of the domain's owner that has a grant may send DNS UPDATE messages (RFC 2136) to the nameservers, signed with TSIG. A message may only change the names and types that its key was granted. Grants do not pass to another owner of the domain.",
  body: NewUpdateGrants,
  response: UpdateGrants,
  async run({ api, domain, body, audit }) {
    const problems: { field: string; error: string }[] = [];
    const wanted = body.grants.map(({ tsig_key, name, match, types, edits_origin }, i) => {
      const field = `grants[${i}]`;
      const read = parseRecordName(name, domain.name);
      if (read.kind === 'problem') problems.push({ field: `${field}.name`, error: read.message });
      const codes = types?.map((type, at) => {
        if (type !== 'ANAME') return wireTypeCode(type);
        problems.push({
          field: `${field}.types[${at}]`,
          error: 'ANAME records can be changed only with the API',
        });
        return 0;
      });
      return {
        keyId: tsig_key,
        match,
        owner: read.kind === 'name' ? foldCase(read.name) : domain.name,
        types: codes === undefined ? null : [...new Set(codes)],
        editsOrigin: edits_origin,
      };
    });
    if (problems.length > 0) return invalid(problems);
    const before = await listDomainGrants(api.db, domain.id);
    const replaced = await replaceDomainGrants(api.db, domain, wanted);
    if (replaced.kind === 'absent') return notFound('domain');
    if (replaced.kind === 'unknown_key') {
      const field = `grants[${replaced.index}].tsig_key`;
      return invalid([{ field, error: "expected a key that the domain's owner created" }]);
    }
    const after = await listDomainGrants(api.db, domain.id);
    audit({ before: { grants: before.map(describeGrant) }, after: { grants: after.map(describeGrant) } });
    return print(after, domain.name);
  },
});

export const UPDATE_ROUTES = [getUpdateGrants, putUpdateGrants];

function print(grants: readonly StoredUpdateGrant[], apex: Name): z.input<typeof UpdateGrants> {
  return {
    grants: grants.map(({ id, keyId, owner, match, types, editsOrigin }) => ({
      id,
      tsig_key: keyId,
      name: printRecordName(owner, apex),
      match,
      types: types === null ? null : types.map(typeMnemonic),
      edits_origin: editsOrigin,
    })),
  };
}
