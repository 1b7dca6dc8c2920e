// The texts of the reseller's pages, which are loaded with these pages.

export { reseller } from './en/reseller.ts';
