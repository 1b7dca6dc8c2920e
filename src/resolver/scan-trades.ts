// What zones of a trade have, and of whoever runs certain software. Compiled by hand for this project like scan-words.ts.

import { type Kind, list, set } from './scan-kind.ts';
import { AD_SERVICES } from './scan-services.ts';

/** Every scan asks for these of each. */
const MOST_PROBES = 7;

const UNIVERSITY: Kind = {
  signs:
    set(`library lib moodle eduroam canvas blackboard bb alumni registrar faculty student students campus ecampus
    cs math physics chem bio engineering law med medicine edu elearning lms courses admission admissions research academic
    university univ college sis exam exams hostel phd dspace eprints opac shibboleth wayf grad scholar humanities`),
  needed: 2,
  domains:
    /(^|\.)(edu(\.[a-z]{2})?|ac\.[a-z]{2})$|(^|\.)(uni|univ|tu|fh)-[^.]+\.|universit|college|hochschule/,
  names: list(`
    eduroam sso idp shibboleth wayf cas adfs login weblogin webauth netid identity my mycampus portal
    lib library libraries libproxy ezproxy proxy opac catalog catalogue archives
    repository dspace eprints digital scholar theses etd journals ojs publications
    books moodle canvas blackboard bb lms elearning learn learning vle courses course
    classroom online panopto kaltura mediasite opencast video lecture lectures turnitin exam exams quiz
    schedule grades results sis banner peoplesoft campus ecampus studentportal student students stu mystudent
    registrar admissions admission apply enroll enrollment finaid housing hostel
    international career careers alumni giving faculty staff hr jobs people directory phonebook ldap
    research grants ethics hpc cluster computing gpu slurm jupyter jupyterhub lab labs data opendata
    gitlab git wiki mirror mirrors ftp software licenses matlab helpdesk servicedesk it its ict noc webmail
    mail smtp imap owa lists mailman vpn remote radius wifi
    cs csc cse ee ece eecs me mae ce civil chem chemistry phys physics astronomy bio biology genetics math maths
    mathematics stat stats statistics econ economics business bus mba law med medicine medical dental nursing pharmacy
    vet publichealth health psych psychology soc sociology politics philosophy history english eng
    engineering lang linguistics geography env environment art arts
    arch architecture design edu education sport sports athletics humanities hum science sci informatics
    mech materials ai robotics media journalism comm grad graduate gradschool phd
    school dept college institute centre clinic radio tv news events calendar
    maps map police safety security club clubs conference conferences
    people home users web www2 homepages blogs sites cms old intranet president provost
  `),
};

const DIRECTORY: Kind = {
  signs:
    set(`_msdcs _sites _ldap._tcp _kerberos._tcp _kerberos._udp _gc._tcp _kpasswd._tcp _kpasswd._udp adfs sts ad dc dc1
    dc2 dc01 dc02 ldap ldap1 lyncdiscover lyncdiscoverinternal sip lync wpad wsus exchange`),
  needed: 1,
  names: [
    '_msdcs',
    ...AD_SERVICES.map((each) => `${each}._msdcs`),
    'domaindnszones',
    'forestdnszones',
    '_ldap._tcp.domaindnszones',
    '_ldap._tcp.forestdnszones',
  ],
};

const LOCALES =
  list(`en de fr es it pt nl pl ru ja jp zh cn ko kr ar tr sv se da dk no nb fi cs cz sk hu ro bg el gr he hi id
  th vi uk ua hr sr sl lt lv et ca fa ms my ph at ch be ie gb uk us au nz br mx cl co pe za in sg hk tw zh-cn zh-tw zh-hans
  pt-br es-mx en-gb en-us fr-ca latam global intl eu asia`);

const LOCALIZED: Kind = {
  signs: new Set(LOCALES),
  needed: 2,
  names: LOCALES,
};

const PRODUCT: Kind = {
  signs:
    set(`app api docs status dashboard console login auth accounts id developer developers help platform go my staging
    sandbox demo signup`),
  needed: 4,
  names: list(`
    accounts signin sso studio hub connect insights explore explorer builder editor designer player viewer workspace workspaces
    spaces teams people chat messaging inbox voice calls video meet rooms forms flows flow automation automations workflow
    workflows tasks boards agent agents copilot assistant mcp models playground sdk cli docs-api reference changelog roadmap
    ideas releases integrations marketplace apps plugins extensions templates widgets widget embed share invite invites links
    pages sites wallet cards pay payouts billing checkout invoices subscriptions risk identity verify kyc tax capital trust
    compliance security usage metering events ingest collect collector edge relay realtime socket sockets push notifications
    uploads assets usercontent content cdn2 preview previews sandbox2 labs beta canary next internal-api admin-api public-api
    gateway partner partners partner-api hooks callbacks customers tenants start welcome onboarding learn academy community
  `),
};

export const TRADES: readonly Kind[] = [
  UNIVERSITY,
  DIRECTORY,
  LOCALIZED,
  PRODUCT,
  // Communities of game servers
  trade(
    1,
    '_minecraft._tcp _ts3._udp _tsdns._tcp minecraft pterodactyl dynmap bluemap litebans survival skyblock fivem buycraft',
    `
      vote bans rules launcher lobby mc1 mc2 teamspeak mumble bedrock java smp vanilla modded factions prison play2
      server3 node3 fastdl bungee velocity pe pixelmon ftb tebex buy appeal appeals patch resourcepack pack packs
      roleplay gta gtarp rust ark arma3 dayz gmod csgo cs2 cs16 valheim terraria factorio palworld 7dtd tf2 squad
      sourcebans hlstats leaderboard tournament esports clan guild wings
    `,
  ),
  // Web hosters
  trade(
    1,
    'whmcs plesk cpanel1 da01 lg looking-glass solusvm virtualizor hostbill parking rdns installatron spamexperts directadmin',
    `
      server3 server4 cp1 speedtest server5 vps2 host3 vps3 cp2 s4 server6 server7 server8 domains domain whois
      hosting1 hosting2 shared shared1 resolver1 resolver2 dns3 dns4 cp3 srv3 srv4 host4 vps4 web5 da1 da2 plesk1
      plesk2 plesk01 cpanel2 lg1 lg2 kvm1 kvm2 node01 node02 node3 node4 mailfilter spamfilter r1soft jetbackup
      sitebuilder win1 win2 linux1 cluster1
    `,
  ),
  // Access providers
  trade(
    1,
    'acs tr069 radius1 bras1 bng1 librenms netbox smokeping iptv genieacs softswitch provisioning peeringdb selfcare',
    `
      speedtest lg nms speed pppoe ntp1 unms uisp radius2 mrtg observium resolver1 resolver2 cache1 cache2 oss bss gw2
      core1 core2 rtr1 rtr2 r1 r2 edge2 br1 br2 cr1 cr2 pe1 pe2 bgp rr1 loopback lo sw1 sw2 olt olt1 cpe dhcp dhcp1
      pool dynamic nat cgnat nat64 dns64 rdns sip2 sbc sbc1 ims webtv stb middleware epg ott vod abuse peering
      route-server rpki irr whois netflow tacacs ipam phpipam oxidized unimus dude mikrotik
    `,
  ),
  // Servers of a Windows domain
  trade(
    1,
    '_ldap._tcp _kerberos._tcp _kerberos._udp _gc._tcp _kpasswd._tcp _msdcs _vlmcs._tcp domaindnszones forestdnszones _ldap._tcp.dc._msdcs wsus vcenter wpad _kpasswd._udp',
    `
      dc02 fs01 sql01 app01 fs1 ex01 print01 exch01 ts01 dc03 dc3 app02 nas01 rds01 esxi01 esx1 srv02 fs02 sql02 ca01
      rdgw ts02 ts2 exchange01 ex02 mbx01 cas01 storefront ctx01 ctx02 term01 rds02 rdgw01 wap01 file01 nas02 vc01
      vcsa esx01 esx02 esxi02 esxi03 esxi2 esxi3 esx2 hv01 hv02 hv1 hyperv01 veeam01 backup01 bkp01 wsus01 sccm sccm01
      mdt wds nps nps01 radius01 dhcp01 dns01 sp01 sharepoint01 app03 iis01 prt01 ps01 skype crm01 nav01 erp01 kms
      mgmt01 mon01
    `,
  ),
  // Hospitals and clinics
  trade(
    1,
    'pacs ris dicom patient patientportal telehealth mychart ehr emr hl7 fhir referrers labresults lis',
    `
      patients telemedicine telemed appointments appointment radiology imaging doctors doctor physicians referral
      referrals billpay securemail clinic hospital physician viewer virtual his pharmacy myhealth foundation covid19
      covid vaccine rx eprescribe prescriptions epicproxy epic haiku interconnect mychart-test cerner meditech
      laboratory webpacs pacs1 pacs2 pacs01 ambra ohif orthanc mirth fhir-test clinicaltrials trials studies irb blood
      bloodbank cancer cardiology dental dentist ortho pediatrics maternity oncology wellness care homecare ecare
      econsult evisit virtualcare airwatch provider providers claims edi safemail encrypt
    `,
  ),
  // Banks and insurers
  trade(
    1,
    'ebanking onlinebanking netbanking ibank fints ebics 3ds openbanking psd2 hbci xs2a securemail internetbanking ekyc',
    `
      banking ib acs onboarding loans claims broker kyc investor wealth swift sft mft dataroom vdr token ibanking
      e-banking mbank mobilebanking mobil api-sandbox developer.api psd2-sandbox tpp cps crl1 crl2 ocsp1 ocsp2 cert
      tsa timestamp acs1 3ds2 3dsecure mpi epay ecom creditcard mortgage mortgages funds brokers claim pension
      pensions savings deposit openaccount esign filetransfer securetransfer smail secure-mail otp
    `,
  ),
  // Who serves at home
  trade(
    1,
    'jellyfin pihole homeassistant vaultwarden sonarr radarr plex overseerr paperless immich jellyseerr adguard unraid hass',
    `
      ha requests pad mastodon peertube md collabora prowlarr lidarr readarr bazarr tautulli sabnzbd nzbget
      transmission deluge qbittorrent torrent emby ombi audiobookshelf navidrome books calibre kavita komga freshrss
      miniflux wallabag linkding mealie recipes grocy firefly actual authelia authentik npm dash homepage heimdall
      homarr synapse mumble pixelfed lemmy misskey pleroma tube hedgedoc etherpad cryptpad onlyoffice bookstack notes
      joplin trilium syncthing seafile radicale filebrowser paste privatebin searx searxng invidious nodered frigate
      octoprint forgejo
    `,
  ),
  // Towns and agencies
  trade(
    2,
    'gis opendata council permits elections eservices procurement tenders geoportal citizen foi weblink publicaccess citizens',
    `
      police planning agenda webgis museum tourism visit epermits permit water utilities utility tax taxes property
      e-services records transport parking environment fire emergency 911 parks recreation rec court courts sheriff
      assessor treasurer clerk gisweb arcgis gismaps planningportal zoning building laserfiche legistar webcast eforms
      appointments appointment securemail licensing licence statistics census covid19 traffic consult consultation
      engage haveyoursay participation complaints 311 mycity budget eprocurement etender bids vendor legislation
    `,
  ),
  // Shops and brands
  trade(
    2,
    'dealers dealer wholesale loyalty pim returns giftcards storelocator warranty magento checkout as2 lookbook retailers',
    `
      stores edi reviews trk giftcard rewards retail vendor brands dam spareparts manuals productregistration rma
      repair orderstatus ship warehouse wms as2-test po recs quiz ask newshop old-shop shop-dev staging-shop dev-shop
      store-test outlet promotions contest sweepstakes
    `,
  ),
  // Publishers and broadcasters
  trade(
    2,
    'amp vod epg smetrics epaper subscribe paywall abo adserver livestream podcasts mediakit icecast e-paper',
    `
      podcast adv advertise advertising cmp consent tags live2 stream1 stream2 listen embed hls rtmp ingest encoder
      thumbs edition push notifications pixel sdc sourcepoint prebid subscription subscriptions classifieds realestate
      immo homes obituaries recipes puzzles quiz horoscope comments
    `,
  ),
  // Software as a service
  trade(
    2,
    'clerk accounts.dev clkmail clk._domainkey clk2._domainkey api.staging app.staging api.dev app.dev changelog trust api-eu app-staging feature',
    `
      hooks app-eu us-east-1 us-west-2 eu-west-1 eu-central-1 api-us api.eu api.us app.eu admin.staging admin.dev
      auth.staging auth.dev www.staging www.dev docs.staging dashboard.staging app.qa api.qa api.test app.test
      api.prod api.beta api.sandbox sandbox-api api-sandbox api.demo app.demo staging-admin admin-staging auth-staging
      ingest posthog ph segment api-gateway rpc
    `,
  ),
  // Platforms that teams run for themselves
  trade(
    2,
    'prometheus alertmanager argocd harbor registry rancher kibana k8s nexus sonarqube jenkins vault pushgateway sonar',
    `
      argo artifactory registry.gitlab drone prom cluster nomad awx ansible puppet foreman packages airflow superset
      redash mlflow netbox kuma uptime-kuma opensearch logstash elk graphite influx thanos tempo jaeger otel headscale
      netbird pritunl teleport freeipa ipa ipa1 authentik authelia dex semaphore rundeck atlantis pypi npm verdaccio
      apt charts chartmuseum api.k8s k8s-api
    `,
  ),
  // Who sends much mail
  trade(
    2,
    'fbl bounces unsub listunsubscribe feedbackloop inbound-smtp smtp-eu dmarc-reports _dmarc.bounce _netblocks pmta mta01 spf1 trx',
    `
      unsubscribe mta2 spf dmarc parse replies sender smtp-in smtp-out out1 out2 relay2 mta3 mta02 smtp-us spf2 spf3
      include rua tlsrpt submission preferences subscribe optin optout notifications bulk mkt hs m1 mandrill sparkpost
      ses mailjet
    `,
  ),
  // Associations
  trade(
    2,
    'donate volunteer petition action advocacy giving church fundraising chapters getinvolved civicrm membership parish plannedgiving',
    `
      donations donor volunteers act resources foundation youth camp annualmeeting podcast congress summit convention
      sermons worship prayer children diocese ministries missions smallgroups take impact civi engage action2
      petitions vote elections grants awards scholarship scholarships gala auction race run walk league tournament
      committee directory regional europe africa plannedgifts secure2
    `,
  ),
  // Hotels, restaurants, events
  trade(
    2,
    'reservations rsvp hotel rooms menu weddings wedding giftvouchers guestwifi pms tablebooking restaurant banquet excursions',
    `
      reservation reserve vouchers menus restaurants spa stay catering bar bookonline giftcards giftcard voucher
      ticketing venue venues conferences group guests rewards tours tour trips flights flight cars holidays vacation
      vacations cruise cruises visa packages transfers checkin check-in ordering kitchen cafe bistro pizza table
      tables rates specials reviews crs channelmanager xml villa villas apartments apartment resort resorts hostel
    `,
  ),
  // Makers and carriers
  trade(
    2,
    'edi sap mes plm scada supplierportal trackandtrace windchill timeclock historian fiori srm sds as2',
    `
      vendor wms tms fleet gps configurator cad pdm teamcenter quality qms timesheet attendance zeit energy solar
      power meter outage dispatch driver drivers maintenance cmms maximo bim procore planroom engineering
      whistleblower ehs safety msds dms shipment cargo freight customs warehouse orderstatus rfq spareparts
      distributors solidworks filetransfer saprouter sapportal s4hana hana webdispatcher bw ess
    `,
  ),
  // Schools
  trade(
    2,
    'parents parentportal timetable powerschool studentportal gradebook isams managebac pupils homework untis destiny mosyle papercut',
    `
      parent teachers vle classroom schools class google clever jamf jss grades attendance enroll enrollment
      assessment quiz arbor sims firefly satchel compass skyward aeries infinitecampus ic synergy ps lunch nutrition
      meals canteen transportation bus athletics arts english elementary primary secondary middle high hs ms college
      course classes pta foundation
    `,
  ),
  // Research
  trade(
    2,
    'shibboleth idp eduroam dspace ezproxy opac hpc physics chemistry ojs koha libguides repository indico',
    `
      engineering journals biology medicine law economics museum jupyterhub thesis etd eprints handle hdl doi
      dataverse ckan openathens wayf weblogin phys chem bio statistics ee eecs cse ece civil psychology sociology
      history philosophy linguistics arts nursing mba primo discovery illiad ill aleph panopto kaltura limesurvey
      redcap ssb timetable scholarship oia symposium grid globus cluster
    `,
  ),
];

function trade(needed: number, signs: string, words: string): Kind {
  const hosts = list(signs).filter((sign) => !sign.includes('_')); // services are asked for where any are
  return {
    signs: set(signs),
    needed,
    probes: hosts.slice(0, MOST_PROBES),
    names: [...hosts, ...list(words)],
  };
}
