// The texts of edge rules, which are loaded with their page.

export { rules } from './en/rules.ts';
