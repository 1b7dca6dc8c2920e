import { expect, it } from 'vitest';
import { withoutPrices } from '../../../src/api/print/without-prices.ts';

it('no price is left at any depth, and everything else is', () => {
  const value = {
    id: 1,
    price: 5,
    plan: { terms: [{ id: 2, price_rials: 0, at: null }, [{ unitPrice: 1, x: 'y' }]], PRICE: {} },
  };
  expect(withoutPrices(value)).toEqual({ id: 1, plan: { terms: [{ id: 2, at: null }, [{ x: 'y' }]] } });
});
