// Every route of the API, by path.

import type { Route } from './route.ts';
import { listChanges } from './routes/account-changes.ts';
import { getCheck, listChecksOfDomain } from './routes/checks.ts';
import { createDomain } from './routes/create-domain.ts';
import { deleteDomain, enableDomain, getDomain } from './routes/domain.ts';
import { getChange, listChangesOfDomain, revertChange } from './routes/domain-changes.ts';
import { listDomains } from './routes/list-domains.ts';
import { getNameserverSets } from './routes/nameserver-sets.ts';
import { checkNameservers } from './routes/ns-check.ts';
import { createRecord, deleteRecord, getRecord, listDomainRecords, updateRecord } from './routes/records.ts';
import { deleteRecords, editRecords } from './routes/records-batch.ts';
import { exportRecords } from './routes/records-export.ts';
import { importRecords } from './routes/records-import.ts';
import { parseImport } from './routes/records-parse.ts';
import { previewScan } from './routes/scan.ts';
import { scanImport } from './routes/scan-import.ts';
import { getFeatures, getSubscription, getSubscriptions } from './routes/subscriptions.ts';
import { updateDomain } from './routes/update-domain.ts';
import { verifyDomain } from './routes/verify.ts';

export const ROUTES: readonly Route[] = [
  listChanges,
  listDomains,
  createDomain,
  getNameserverSets,
  getDomain,
  updateDomain,
  deleteDomain,
  enableDomain,
  verifyDomain,
  checkNameservers,
  listChecksOfDomain,
  getCheck,
  listChangesOfDomain,
  getChange,
  revertChange,
  getFeatures,
  listDomainRecords,
  createRecord,
  editRecords,
  deleteRecords,
  importRecords,
  parseImport,
  exportRecords,
  scanImport,
  previewScan,
  getRecord,
  updateRecord,
  deleteRecord,
  getSubscriptions,
  getSubscription,
];
