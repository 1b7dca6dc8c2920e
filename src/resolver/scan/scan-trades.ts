// Names in zones of one trade, or of those who run certain software. Compiled by hand for this project like
// scan-words.ts.

import { type Kind, list, set } from './scan-kind.ts';
import { AD_SERVICES } from './scan-services.ts';

/** How many names of each trade every scan asks for. */
const MOST_PROBES = 5;

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
      sourcebans hlstats leaderboard tournament esports clan guild wings panel2 lobby1 oneblock kitpvp skygen
      lifesteal earth anarchy towny modpack modpacks resources ddos protect skins skin avatar avatars cape capes amp
      multicraft gamepanel tcadmin pufferpanel pelican wings1 wings2 daemon node5 node6 n1 n2 n3 fr1 de1 ny dallas
      plan map2 namelessmc azuriom advancedban mcp mcstats cad mdt fivem2 txadmin redm ragemp samp hl2 l4d2 unturned
      conan vrising zomboid satisfactory wow l2 ragnarok metin2 osrs patcher account2 ucp ladder ranking rankings
      replays league cup obs bot2 modmail transcripts art trailer votifier
    `,
  ),
  // Web hosters
  trade(
    2,
    'whmcs plesk cpanel1 da01 lg looking-glass solusvm virtualizor hostbill parking rdns installatron spamexperts directadmin',
    `
      server3 server4 cp1 speedtest server5 vps2 host3 vps3 cp2 s4 server6 server7 server8 domains domain whois
      hosting1 hosting2 shared shared1 resolver1 resolver2 dns3 dns4 cp3 srv3 srv4 host4 vps4 web5 da1 da2 plesk1
      plesk2 plesk01 cpanel2 lg1 lg2 kvm1 kvm2 node01 node02 node3 node4 mailfilter spamfilter r1soft jetbackup
      sitebuilder win1 win2 linux1 cluster1 cpanel02 suspended cpanel01 server9 server10 s5 s6 s7 s8 web03 host5 ns5
      ns6 cpanel3 cpanel03 cpanel4 cpanel5 server11 server12 s9 s10 web04 web6 host6 vps5 vps6 srv5 cp5 da3 da4 da02
      node5 node6 node03 plesk02 plesk3 win3 win01 linux2 abuse hostmaster rdap epp pdns dnsadmin powerdns anycast
      dns5 dns01 panel2 ispconfig virtualmin vesta hestia cyberpanel ispmanager acronis backup3 cdp kvm3 kvm01 pve2
      pve3 xen1 hv1 openstack vmmanager billmanager dedicated pdu mxfilter out1 relay2 smarthost webmail3 pgsql wp1
    `,
  ),
  // Access providers
  trade(
    2,
    'acs tr069 radius1 bras1 bng1 librenms netbox smokeping iptv genieacs softswitch provisioning peeringdb selfcare',
    `
      speedtest lg nms speed pppoe ntp1 unms uisp radius2 mrtg observium resolver1 resolver2 cache1 cache2 oss bss gw2
      core1 core2 rtr1 rtr2 r1 r2 edge2 br1 br2 cr1 cr2 pe1 pe2 bgp rr1 loopback lo sw1 sw2 olt olt1 cpe dhcp dhcp1
      pool dynamic nat cgnat nat64 dns64 rdns sip2 sbc sbc1 ims webtv stb middleware epg ott vod abuse peering
      route-server rpki irr whois netflow tacacs ipam phpipam oxidized unimus dude mikrotik speedtest1 speedtest2 cpe1
      userside utm5 lk splynx ixc mkauth sgp central sac assinante ebok cabinet captive captiveportal suspended v6
      border1 lg2 rs1 rs2 ggc oca fna rec1 rec2 recursive ns5 dns01 anycast nat1 cgn lns1 bras2 bng2 ccr1 asr1 pop1
      pop2 ap1 wlc ubnt ptp tower nms2 zabbix2 the-dude opennms solarwinds orion weathermap coverage fiber ftth onu
      ont gpon ams u2000 unm2000 cmts1 prov cwmp acs1 acs2 modem recharge care mms apn voip1 voip2 asterisk voicemail
      iptv2 stalker ministra astra encoder iperf iperf3
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
      mgmt01 mon01 dc-01 srv-dc01 fw01 fortigate srv-fs01 ca1 sonicwall adfs01 ad1 ad01 rds1 fs2 fs03 print1 vcenter01
      vc1 nas2 srv03 srv-exchange srv-sql01 srv-ts01 srv-app01 dc-02 srv-dc02 vpn-us vpn-eu anyconnect watchguard asa
      iis dc04 exchange1 exchange2 exch1 edge01 hybrid ndes scom01 wac mdt01 rootca term1 horizon netscaler esx3
      esxi04 hv03 hyperv1 host01 sql3 ssrs nav dialin cucm expressway qnap barracuda checkpoint palo nps02 ise
      clearpass dhcp02 dns02 wlc eset kaspersky prtg01 splunk jump01 dms srv-file
    `,
  ),
  // Hospitals and clinics
  trade(
    2,
    'pacs ris dicom patient patientportal telehealth mychart ehr emr hl7 fhir referrers labresults lis',
    `
      patients telemedicine telemed appointments appointment radiology imaging doctors doctor physicians referral
      referrals billpay securemail clinic hospital physician viewer virtual his pharmacy myhealth foundation covid19
      covid vaccine rx eprescribe prescriptions epicproxy epic haiku interconnect mychart-test cerner meditech
      laboratory webpacs pacs1 pacs2 pacs01 ambra ohif orthanc mirth fhir-test clinicaltrials trials studies irb blood
      bloodbank cancer cardiology dental dentist ortho pediatrics maternity oncology wellness care homecare ecare
      econsult evisit virtualcare airwatch provider providers claims edi safemail encrypt sectra carestream synapse
      agfa impax intelerad ris1 ris2 teleradiology telerad merge centricity ultima webviewer mypacs orchard
      powerscribe dictation atlas labportal onlineresults resultats otp ctx netscaler horizon myapps xenapp openemr
      openmrs allscripts ecw eclinicalworks nextgen healow carelink epiccarelink epiclink providerlink physicianportal
      refer ereferral referralportal hie interop cloverleaf rhapsody teleconsult televisit evisits vc queue checkin
      lawson infor ess kronos workday healthstream relias cme gme policies policystat incident vocera paging amion
      oncall ironport zixmail efax sftp2 mft moveit mybill genetics genomics pathology surgery optical hearing rehab
    `,
  ),
  // Banks and insurers
  trade(
    2,
    'ebanking onlinebanking netbanking ibank fints ebics 3ds openbanking psd2 hbci xs2a securemail internetbanking ekyc',
    `
      banking ib acs invest onboarding loans claims broker quotes kyc trade investor wealth swift sft mft dataroom vdr
      token ibanking e-banking mbank mobilebanking mobil api-sandbox developer.api psd2-sandbox tpp cps crl1 crl2
      ocsp1 ocsp2 cert tsa timestamp acs1 3ds2 3dsecure mpi epay ecom creditcard mortgage mortgages funds trading
      brokers claim pension pensions savings deposit openaccount esign filetransfer securetransfer smail secure-mail
      otp mt4 mt5 trader webtrader broker2 claim2 corebanking fx rates bo rms statements estatement calculator
      treasury leasing markets fund adviser advisors ipo audit fraud scoring credit aml vkyc docusign esignature
      moveit kiteworks goanywhere sharefile mybank ebank mbanking upi remit remittance brokerportal agentportal
      mypolicy getquote life motor retirement benefits giftcards prepaid crypto explorer rpc api-gw openapi consent
      tpp-portal devportal acs3 tds guidewire fnol t24 finacle flexcube mambu temenos q2 hsm cib fix lender lenders
      borrower encompass demat
    `,
  ),
  // Who serves at home
  trade(
    2,
    'jellyfin pihole homeassistant vaultwarden sonarr radarr plex overseerr paperless immich jellyseerr adguard unraid hass',
    `
      ha matrix requests element pad mastodon peertube md collabora prowlarr lidarr readarr bazarr tautulli sabnzbd
      nzbget transmission deluge qbittorrent torrent emby ombi audiobookshelf navidrome books calibre kavita komga
      freshrss miniflux wallabag linkding mealie recipes grocy firefly actual authelia authentik npm dash homepage
      heimdall homarr synapse mumble pixelfed lemmy misskey pleroma tube hedgedoc etherpad cryptpad onlyoffice
      bookstack notes joplin trilium syncthing seafile radicale filebrowser paste privatebin searx searxng invidious
      n8n nodered frigate octoprint forgejo changedetection stirling-pdf pdf stirling ntfy gotify it-tools memos
      photoprism tdarr jackett flaresolverr wizarr open-webui openwebui ollama chatgpt dozzle dockge beszel glances
      scrutiny truenas dsm pbs unifi2 omada router1 crowdsec pocketid zitadel lldap technitium zigbee2mqtt z2m esphome
      code-server vscode mailcow rspamd listmonk stremio airsonic funkwhale lychee piwigo rutorrent aria2 sab nzb
      tvheadend outline docmost obsidian wikijs vikunja planka baserow nocodb homebox wallos ghostfolio budget tandoor
      kitchenowl rsshub yourls shlink pairdrop microbin pingvin excalidraw draw drawio karakeep hoarder linkwarden
      cyberchef speedtest-tracker dashy glance homer gotosocial ghost
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
      engage haveyoursay participation complaints 311 mycity invest budget eprocurement etender bids vendor
      legislation egov energov accela granicus gov opendata2 data2 transparency transparencia etrakit trakit
      citizenaccess viewpoint selfservice2 eplan eplans inspections inspection landrecords recorder deeds cadastre
      cadastral parcel parcels orthophoto imagery wms wfs geonode geoserver geonetwork geodata inspire geoservices
      mapserver mapserv gisportal gis2 gisdata arcgis2 portalgis beacon purchasing purchase contracts onbase edms
      minutes moderngov democracy committees councillors jail inmate inmates warrants cad crime rms fines
      parkingtickets transit bus roads streets waste recycling flood volunteer socialservices housing benefits
      revenues counciltax land companies efiling eservice passports visa immigration customs labour employment
    `,
  ),
  // Shops and brands
  trade(
    2,
    'dealers dealer wholesale loyalty pim returns giftcards storelocator warranty magento checkout as2 lookbook retailers',
    `
      stores edi reviews trk giftcard rewards trade retail vendor brands dam spareparts manuals productregistration
      rma repair orderstatus ship delivery warehouse wms as2-test po recs quiz ask newshop old-shop shop-dev
      staging-shop dev-shop store-test outlet promotions contest sweepstakes fonts quotes wholesale2 netsuite sap-test
      klaviyo sms text attn designer customizer configurator dropship ebay amazon distributor distributors franchise
      refer referral ambassador ambassadors wishlist recipes fit 3d swatches samples custom pictures bynder mediabank
      imagebank stock inventory barcode label parcel trackorder sendcloud trackings returns2 edi2 connector middleware
      hybris akeneo shopware magento2 opencart bigcommerce varnish algolia nosto ecom tradeportal b2btest pricelist
      mall planner visualizer sustainability flipbook ecatalog pos2 3pl fulfillment dms
    `,
  ),
  // Publishers and broadcasters
  trade(
    2,
    'amp vod epg smetrics epaper subscribe paywall abo adserver livestream podcasts mediakit icecast e-paper',
    `
      podcast newsletters adv advertise advertising cmp consent tags live2 stream1 stream2 listen embed hls rtmp
      ingest encoder thumbs edition push notifications pixel sdc sourcepoint prebid subscription subscriptions
      classifieds realestate immo homes obituaries recipes puzzles quiz horoscope comments tips securedrop tip adops
      ads2 magazines ticker shoutcast rss2 elections interactive graphics tv2 clips webcams contests win awards
      festival subscriber subs e-edition eedition flipbook magazin anzeigen trauer abos aboservice wahl gewinnspiel
      megaphone omny simplecast libsyn transistor spreaker cms2 newsroom dam imagebank resize resizer video2 vms
      players hls2 stream3 stream4 live1 live3 rtmp2 wowza nowplaying np requests tvguide crossword quizzes fantasy
      scores football markets lifestyle women property cars dating coupons voucher syndication oembed gdpr
      publicnotices
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
      ingest posthog ph segment api-gateway rpc mcp eu-west-2 us-east-2 us-west-1 ap-southeast-2 ap-southeast-1
      ap-northeast-1 ap-south-1 ca-central-1 sa-east-1 api-au api-ca api-uk api-in api.au api.ca api.uk app-us app-au
      app.us app.au au1 api-v2 v3 api-prod api-stg api-uat api-qa internal-api api.internal public-api admin-api
      api-docs apidocs swagger embed px clerk.dev clerk.staging clerk.app accounts.app accounts.staging referral
      retool otel load sst flags storybook ui stage-api app-stage app.stage api.stage app.stg api.stg app.uat api.uat
      app.sandbox test-api test-app app-test app-qa nightly
    `,
  ),
  // Platforms that teams run for themselves
  trade(
    2,
    'prometheus alertmanager argocd harbor registry rancher kibana k8s nexus sonarqube jenkins vault pushgateway sonar',
    `
      argo artifactory registry.gitlab drone prom cluster nomad awx ansible puppet foreman packages n8n airflow
      superset redash mlflow netbox kuma uptime-kuma opensearch logstash elk graphite influx thanos tempo jaeger otel
      headscale netbird pritunl teleport freeipa ipa ipa1 authentik authelia dex semaphore rundeck atlantis pypi npm
      verdaccio apt charts chartmuseum api.k8s k8s-api deb rpm planet runner gitlab-runner runners mailhog weblate
      snapshots nightly release wazuh signoz victoriametrics gerrit paste pad quay maven nuget composer conda pulp
      mailpit cockpit longhorn ceph rook kiali kubecost backstage openproject passbolt infisical defectdojo
      dependency-track akhq kafka-ui temporal dagster prefect flower mongo-express adminer clickhouse etcd haproxy
      nginx swagger outline coolify healthchecks glitchtip unleash oncall woodpecker concourse tekton buildbot
      apps.k8s okd openshift acme zulip satellite katello statping goproxy gems rancher2 argocd-dev argocd-prod
      grafana2 squid etherpad api.okd k3s celery varnish
    `,
  ),
  // Who sends much mail
  trade(
    2,
    'fbl bounces unsub listunsubscribe feedbackloop inbound-smtp smtp-eu dmarc-reports _dmarc.bounce _netblocks pmta mta01 spf1 trx',
    `
      unsubscribe mta2 spf dmarc parse replies sender mail4 mail5 smtp3 smtp-in smtp-out out1 out2 relay2 mta3 mta02
      smtp-us spf2 spf3 include rua tlsrpt submission preferences subscribe optin optout notifications bulk mkt hs m1
      mandrill sparkpost ses mailjet fb bounce1 returnpath mailfrom click1 clicks trk cl clk links1 pixel res mailer1
      mailer2 smtp4 smtp02 smtp-relay mta4 mta5 mta03 m3 m4 mx4 out3 out4 outbound1 mail6 mail7 mail8 mail9 mail10 e1
      e2 em3 em4 newsletters news1 news2 edm emails noreply reply1 spf4 spf5 spf-a spf-b dmarcreports bimi dkim hs1 et
      cloud.email click.email view.email image.email click.e view.e cloud.e marketo pardot klaviyo brevo sib pm
      postmark feedback-smtp mg1 mg2 sendy listmonk gr ac bnc trk1
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
      committee directory regional europe africa plannedgifts secure2 raise volunteer2 give2 giveonline p2p ride
      marathon challenge tribute memorial legacygiving planned netcommunity luminate convio actioncenter advocate
      advocates commons discourse publications journals books bookstore bulletin voices merch auctions raffle lottery
      intern fellows fellowship fellowships ambassadors ambassador mentor mentoring peer voter voters ballot
      memberportal portal2 association assoc imis neon wildapricot raiserselect faith bible pastor pastors clergy
      parishes choir retreat retreats seniors women teens scouts pack troop rotary lodge union relief climate adopt
      adoption pets animals annualreport impactreport grant grantee gifts timesheets lists2 livestream
    `,
  ),
  // Hotels, restaurants, events
  trade(
    2,
    'reservations rsvp hotel rooms menu weddings wedding giftvouchers guestwifi pms tablebooking restaurant banquet excursions',
    `
      reservation reserve vouchers menus restaurants spa stay delivery catering bar bookonline giftcards giftcard
      voucher ticketing venue venues conferences group guests rewards tours tour trips flights flight cars holidays
      vacation vacations cruise cruises visa packages transfers checkin check-in ordering kitchen cafe bistro pizza
      table tables rates specials reviews crs channelmanager xml villa villas apartments apartment resort resorts
      hostel opera micros simphony mews protel bookingengine reserva reservas resa reservierung buchen concierge
      guestportal welcome directory emenu qr qrmenu menukaart carta carte speisekarte wine wines brewery nightclub
      casino golf teetimes tee ski snow skipass webcams livecam beach pool gym fitness wellness spabooking massage
      salon taxi carhire rentacar rental rentals bikes boat boats yacht charter activities experiences adventures
      safari diving camping cabins lodge suites residence residences owners owner friends franchise franchising
      weddingplanner festival boxoffice theatre museum zoo aquarium family order2 onlineorder takeaway toast recipes
      travelagent ta
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
      distributors solidworks filetransfer saprouter sapportal s4hana hana webdispatcher bw ess scm hrms gps2 ess2
      trace pod rfid po pi xi barcode hcm hris mss successfactors ln infor epicor ebs netsuite dynamics navision ax
      track2 wms2 edi2 oftp b2bi bo powerbi qlik qlikview cognos solman sapgw webgui fiori-dev fiori-test s4 dealers
      dealerportal customerportal techinfo techdocs tech 3d selector calculator eshop2 onlineshop warranty claims rma
      fieldservice lims calibration visitor visitors weighbridge plant mill mine rtk ntrip station smartmeter outages
      charging ocpp ev telematics samsara traccar fleetmanager driverapp routing transport carriers carrier bids
      aconex
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
      course classes pta foundation lightspeed smoothwall securly printing print-release myprint mobilityprint uniflow
      its itslearning frog library2 libraryopac opac koha oliver follett reading accelerated-reader aspen genesis
      focus schooltool veracross tass seqta clickview parentpay parentmail wcbs schoolbase bromcom cpoms sims-online
      moodle2 moodle3 oldmoodle vle2 mahara eportfolio schoology brightspace d2l ilias iserv webuntis logineo snipeit
      glpi osticket incidentiq workorders classlink launchpad esp eschool studentvue parentvue skyward2 infinite
      powerteacher pstest employees district apple munki barracuda fortigate contentkeeper netsweeper ruckus clearpass
      cloudpath meraki wlc voicemail bells nursery kindergarten prep junior senior sixthform boarding fees erp2
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
      redcap ssb timetable scholarship oia symposium grid globus cluster pure cris handbook servicenow turnitin
      qualtrics echo360 mediasite opencast lecturecapture libcal libanswers libproxy scholar scholarworks omeka
      archivesspace ojs2 dissertations research-repository ilias stud-ip studip sakai d2l brightspace peoplesoft
      workday rstudio slurm galaxy blast genome bioinformatics astro astronomy geology geography agriculture
      architecture pharmacy informatics graduate grad gradschool undergrad phd pg postgrad convocation mooc openedx
      alma-proxy sfx metalib summon vufind symplectic elements concur pulse sympa listserv lists2 idp2 idp-test eduvpn
      anyconnect radius1 login1 ondemand orcid eduid lsf qis hisinone campusonline ares ug hostel matlab overleaf afs
      condor aplus
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
