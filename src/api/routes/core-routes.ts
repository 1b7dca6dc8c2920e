// The routes of the core.

import type { Route } from '../calls/route.ts';
import { listChanges } from './account-changes.ts';
import { createOneAccount, getAccount, listAccounts, updateAccount } from './admin/accounts.ts';
import { listAudit } from './admin/audit.ts';
import { freeze, getBreaker, getRegistries, release } from './admin/breaker.ts';
import { listAccountKeys, makeAccountLink, revokeAccountKey } from './admin/credentials.ts';
import { createDomains } from './admin/domain-batch.ts';
import { checkDomain } from './admin/domain-check.ts';
import * as adminDomains from './admin/domains.ts';
import { confirmNode, getNodes, getQueues, getSlowCalls, getVantages } from './admin/fleet.ts';
import * as adminPlans from './admin/plans.ts';
import { endSubscription, setSubscription } from './admin/subscription.ts';
import { RANKING_ROUTES } from './analytics/rankings.ts';
import { REQUEST_ROUTES } from './analytics/requests.ts';
import { getTrafficUsage } from './analytics/traffic.ts';
import { listDomainAudit, listOwnAudit } from './audit.ts';
import { getCheck, getLatestCheck, listChecksOfDomain } from './checks.ts';
import { createDomain } from './create-domain.ts';
import { DNSSEC_ROUTES } from './dnssec.ts';
import { checkDnssec } from './dnssec-check.ts';
import { DNSSEC_KEY_ROUTES } from './dnssec-keys.ts';
import { deleteDomain, enableDomain, getDomain } from './domain.ts';
import { getChange, listChangesOfDomain, revertChange } from './domain-changes.ts';
import { listDomains } from './list-domains.ts';
import { getDnsAnalytics } from './monitoring/dns-counts.ts';
import { followDomain } from './monitoring/events.ts';
import { getNameserverSets } from './nameserver-sets.ts';
import { checkNameservers } from './ns-check.ts';
import { createKey, listKeys, revokeKey } from './people/keys.ts';
import { confirm, login, logout } from './people/login.ts';
import { confirmOtp, disableOtp, enableOtp } from './people/otp.ts';
import { changePassword, forgotPassword, resetPassword } from './people/password.ts';
import { changeEmail, confirmEmailChange, getProfile, updateProfile } from './people/profile.ts';
import { register } from './people/register.ts';
import { endOneSession, endSessions, listOwnSessions } from './people/sessions.ts';
import { whoAmI } from './people/whoami.ts';
import { askPublicCheck, getPublicCheck } from './public/public-checks.ts';
import { createRecord, deleteRecord, getRecord, listDomainRecords, updateRecord } from './records.ts';
import { deleteRecords, editRecords } from './records-batch.ts';
import { exportRecords } from './records-export.ts';
import { importRecords } from './records-import.ts';
import { parseImport } from './records-parse.ts';
import { RULE_ROUTES } from './rules/rules.ts';
import { previewScan } from './scan.ts';
import { scanImport } from './scan-import.ts';
import { acceptInvite, getInvite } from './sharing/invite.ts';
import { createInvite, listInvites, resendInvite, revokeInvite } from './sharing/invites.ts';
import { deleteMember, listMembers, updateMember } from './sharing/members.ts';
import { SSL_ROUTES } from './ssl.ts';
import { getFeatures, getPlans, getSubscription, getSubscriptions } from './subscriptions.ts';
import { updateDomain } from './update-domain.ts';
import { answerVantageJob, takeJobs } from './vantage.ts';
import { listVerificationsOfDomain, verifyDomain } from './verify.ts';

export const CORE_ROUTES: readonly Route[] = [
  listChanges,
  listDomains,
  createDomain,
  getNameserverSets,
  getDomain,
  updateDomain,
  deleteDomain,
  enableDomain,
  verifyDomain,
  listVerificationsOfDomain,
  checkNameservers,
  ...DNSSEC_ROUTES,
  ...DNSSEC_KEY_ROUTES,
  checkDnssec,
  listChecksOfDomain,
  getLatestCheck,
  getCheck,
  listChangesOfDomain,
  followDomain,
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
  listMembers,
  updateMember,
  deleteMember,
  listInvites,
  createInvite,
  resendInvite,
  revokeInvite,
  getInvite,
  acceptInvite,
  ...SSL_ROUTES,
  getDnsAnalytics,
  ...REQUEST_ROUTES,
  ...RANKING_ROUTES,
  getTrafficUsage,
  getPlans,
  getSubscriptions,
  getSubscription,
  takeJobs,
  answerVantageJob,
  getPublicCheck,
  askPublicCheck,
  whoAmI,
  login,
  logout,
  confirm,
  register,
  forgotPassword,
  resetPassword,
  enableOtp,
  confirmOtp,
  disableOtp,
  getProfile,
  updateProfile,
  changeEmail,
  confirmEmailChange,
  changePassword,
  listOwnSessions,
  endSessions,
  endOneSession,
  listKeys,
  createKey,
  revokeKey,
  listDomainAudit,
  listOwnAudit,
  listAccounts,
  createOneAccount,
  getAccount,
  updateAccount,
  makeAccountLink,
  listAccountKeys,
  revokeAccountKey,
  adminDomains.listDomains,
  adminDomains.getDomain,
  createDomains,
  ...RULE_ROUTES,
  ...adminDomains.MOVE_ROUTES,
  ...adminDomains.SUSPENSION_ROUTES,
  adminDomains.approve,
  adminDomains.restore,
  checkDomain,
  setSubscription,
  endSubscription,
  adminPlans.getPlans,
  adminPlans.makePlan,
  adminPlans.changePlan,
  adminPlans.makeTerm,
  adminPlans.endTerm,
  getNodes,
  confirmNode,
  getVantages,
  getQueues,
  getSlowCalls,
  getBreaker,
  getRegistries,
  release,
  freeze,
  listAudit,
];
