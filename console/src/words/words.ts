// The texts in the current language. Each language is a folder with files of the same members; the compiler compares them.

import { en } from './en/en.ts';
import { persian } from './persian.ts';

export type Words = typeof en;

export const words: Words = persian?.words ?? en;
