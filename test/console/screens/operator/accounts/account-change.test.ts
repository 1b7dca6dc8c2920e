import { expect, it } from 'vitest';
import { changeOf, formOf } from '../../../../../console/src/screens/operator/accounts/account-change.ts';

const account = { email: 'a@shop.example', admin: false, reseller: false, active: true };
const full = { ...account, name: 'Ada', provider: 7, plan: 'pro' };

it('sends nothing where nothing differs, also after a field was touched', () => {
  expect(changeOf(account, {})).toEqual({});
  expect(changeOf(full, formOf(full))).toEqual({});
  expect(changeOf(full, { name: ' Ada ', email: ' a@shop.example' })).toEqual({});
});

it('sends the fields that differ and no others', () => {
  expect(changeOf(full, { plan: 'free' })).toEqual({ plan: 'free' });
  expect(changeOf(full, { active: false, email: 'b@shop.example' })).toEqual({
    active: false,
    email: 'b@shop.example',
  });
  expect(changeOf(account, { provider: '12', reseller: true })).toEqual({ provider: 12, reseller: true });
});

it('takes away what was emptied', () => {
  expect(changeOf(full, { name: ' ', provider: '', plan: '' })).toEqual({
    name: null,
    provider: null,
    plan: null,
  });
});

it('leaves a provider that is no number to the API, as a value that it refuses', () => {
  expect(changeOf(account, { provider: 'x' })).toEqual({ provider: 'x' });
});
