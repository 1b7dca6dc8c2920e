// The texts of the line that adds a record, which are loaded with the records.

export { quickAdd } from './en/quick-add.ts';
