// The texts of certificates, which are loaded with their pages.

import * as english from './en/certificates.ts';
import { persian } from './persian.ts';

export const certificates: typeof english.certificates = persian?.certificates ?? english.certificates;
