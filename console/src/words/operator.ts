// The texts of the operator's pages, which are loaded with these pages.

export { operator } from './en/operator.ts';
