import { expect, it } from 'vitest';
import { changeOf, formOf } from '../../../../../console/src/screens/operator/accounts/account-change.ts';

const account = { email: 'a@shop.example', admin: false, reseller: false, active: true };
const full = { ...account, name: 'Ada', provider: 7, plan: 'pro' };

it.each([
  ['nothing if nothing differs', account, {}, {}],
  ['nothing after a field was only touched', full, formOf(full), {}],
  ['nothing for spaces at the ends', full, { name: ' Ada ', email: ' a@shop.example' }, {}],
  ['the plan', full, { plan: 'free' }, { plan: 'free' }],
  ['two fields', full, { active: false, email: 'b@c.example' }, { active: false, email: 'b@c.example' }],
  ['a number for the provider', account, { provider: '12' }, { provider: 12 }],
  [
    'null for emptied fields',
    full,
    { name: ' ', provider: '', plan: '' },
    { name: null, provider: null, plan: null },
  ],
  [
    'a provider that is not a number as it is, for the API to refuse',
    account,
    { provider: 'x' },
    { provider: 'x' },
  ],
  ['a flag', account, { reseller: true }, { reseller: true }],
])('sends %s', (_, of, form, change) => {
  expect(changeOf(of, form)).toEqual(change);
});
