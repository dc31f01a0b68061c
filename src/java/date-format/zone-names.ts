/**
 * English zone names of Java 17, in the order of java.text.DateFormatSymbols#getZoneStrings, with one zone per set of names. The
 * columns are: zone | long | short | long in summer | short in summer | minutes of daylight saving by today's rules.
 */
const TABLE = `
America/Los_Angeles|Pacific Standard Time|PST|Pacific Daylight Time|PDT|60
America/Denver|Mountain Standard Time|MST|Mountain Daylight Time|MDT|60
America/Chicago|Central Standard Time|CST|Central Daylight Time|CDT|60
America/New_York|Eastern Standard Time|EST|Eastern Daylight Time|EDT|60
Pacific/Honolulu|Hawaii-Aleutian Standard Time|HST|Hawaii-Aleutian Daylight Time|HDT|0
America/Anchorage|Alaska Standard Time|AKST|Alaska Daylight Time|AKDT|60
America/Halifax|Atlantic Standard Time|AST|Atlantic Daylight Time|ADT|60
America/St_Johns|Newfoundland Standard Time|NST|Newfoundland Daylight Time|NDT|60
Europe/Paris|Central European Standard Time|CET|Central European Summer Time|CEST|60
GMT|Greenwich Mean Time|GMT|Greenwich Mean Time|GMT|0
Asia/Jerusalem|Israel Standard Time|IST|Israel Daylight Time|IDT|60
Asia/Tokyo|Japan Standard Time|JST|Japan Daylight Time|JDT|0
Europe/Bucharest|Eastern European Standard Time|EET|Eastern European Summer Time|EEST|60
Asia/Shanghai|China Standard Time|CST|China Daylight Time|CDT|0
UTC|Coordinated Universal Time|UTC|Coordinated Universal Time|UTC|0
Australia/Darwin|Australian Central Standard Time|ACST|Australian Central Daylight Time|ACDT|0
Australia/Sydney|Australian Eastern Standard Time|AEST|Australian Eastern Daylight Time|AEDT|60
America/Sao_Paulo|Brasilia Standard Time|BRT|Brasilia Summer Time|BRST|0
Asia/Dhaka|Bangladesh Standard Time|BDT|Bangladesh Summer Time|BDST|0
Africa/Harare|Central Africa Time|CAT|Central African Summer Time|CAST|0
Africa/Addis_Ababa|East Africa Time|EAT|Eastern African Summer Time|EAST|0
Pacific/Apia|Apia Standard Time|WSST|Apia Daylight Time|WSDT|0
Asia/Yerevan|Armenia Standard Time|AMT|Armenia Summer Time|AMST|0
Pacific/Auckland|New Zealand Standard Time|NZST|New Zealand Daylight Time|NZDT|60
Asia/Karachi|Pakistan Standard Time|PKT|Pakistan Summer Time|PKST|0
Pacific/Guadalcanal|Solomon Islands Time|SBT|Solomon Is. Summer Time|SBST|0
Asia/Aden|Arabian Standard Time|AST|Arabian Daylight Time|ADT|0
Asia/Baku|Azerbaijan Standard Time|AZT|Azerbaijan Summer Time|AZST|0
Asia/Dili|East Timor Time|TLT|Timor-Leste Summer Time|TLST|0
Asia/Hovd|Hovd Standard Time|HOVT|Hovd Summer Time|HOVST|0
Asia/Omsk|Omsk Standard Time|OMST|Omsk Summer Time|OMSST|0
Asia/Oral|West Kazakhstan Time|ORAT|Oral Summer Time|ORAST|0
Asia/Aqtau|West Kazakhstan Time|AQTT|Aqtau Summer Time|AQTST|0
Asia/Chita|Yakutsk Standard Time|YAKT|Yakutsk Summer Time|YAKST|0
Asia/Dubai|Gulf Standard Time|GST|Gulf Daylight Time|GDT|0
Asia/Kabul|Afghanistan Time|AFT|Afghanistan Summer Time|AFST|0
Asia/Seoul|Korean Standard Time|KST|Korean Daylight Time|KDT|0
Asia/Almaty|East Kazakhstan Time|ALMT|Alma-Ata Summer Time|ALMST|0
Asia/Anadyr|Anadyr Standard Time|ANAT|Anadyr Summer Time|ANAST|0
Asia/Aqtobe|West Kazakhstan Time|AQTT|Aqtobe Summer Time|AQTST|0
Asia/Atyrau|West Kazakhstan Time|GMT+05:00|Atyrau Daylight Time|GMT+05:00|0
Asia/Brunei|Brunei Darussalam Time|BNT|Brunei Summer Time|BNST|0
Asia/Manila|Philippine Standard Time|PST|Philippine Summer Time|PDT|0
Asia/Saigon|Indochina Time|ICT|Indochina Summer Time|ICST|0
Asia/Taipei|Taipei Standard Time|CST|Taipei Daylight Time|CDT|0
Asia/Tehran|Iran Standard Time|IRST|Iran Daylight Time|IRDT|0
Indian/Mahe|Seychelles Time|SCT|Seychelles Summer Time|SCST|0
Pacific/Yap|Chuuk Time|CHUT|Chuuk Summer Time|CHUST|0
Africa/Accra|Greenwich Mean Time|GMT|Ghana Summer Time|GHST|0
Africa/Lagos|West Africa Standard Time|WAT|West Africa Summer Time|WAST|0
America/Adak|Hawaii-Aleutian Standard Time|HAST|Hawaii-Aleutian Daylight Time|HADT|60
America/Lima|Peru Standard Time|PET|Peru Summer Time|PEST|0
Asia/Bishkek|Kyrgyzstan Time|KGT|Kirgizstan Summer Time|KGST|0
Asia/Colombo|India Standard Time|IST|India Daylight Time|IDT|0
Asia/Irkutsk|Irkutsk Standard Time|IRKT|Irkutsk Summer Time|IRKST|0
Asia/Jakarta|Western Indonesia Time|WIB|West Indonesia Summer Time|WIST|0
Asia/Kuching|Malaysia Time|MYT|Malaysia Summer Time|MYST|0
Asia/Magadan|Magadan Standard Time|MAGT|Magadan Summer Time|MAGST|0
Asia/Rangoon|Myanmar Time|MMT|Myanmar Summer Time|MMST|0
Asia/Tbilisi|Georgia Standard Time|GET|Georgia Summer Time|GEST|0
Asia/Thimphu|Bhutan Time|BTT|Bhutan Summer Time|BTST|0
Europe/Minsk|Moscow Standard Time|MSK|Moscow Summer Time|MSD|0
Indian/Cocos|Cocos Islands Time|CCT|Cocos Islands Summer Time|CCST|0
Pacific/Fiji|Fiji Standard Time|FJT|Fiji Summer Time|FJST|0
Pacific/Guam|Chamorro Standard Time|ChST|Chamorro Daylight Time|ChDT|0
Pacific/Niue|Niue Time|NUT|Niue Summer Time|NUST|0
Pacific/Wake|Wake Island Time|WAKT|Wake Summer Time|WAKST|0
SystemV/PST8|Pitcairn Time|PST|Pitcairn Time|PST|0
SystemV/YST9|Gambier Time|AKST|Gambier Time|AKST|0
Africa/Maseru|South Africa Standard Time|SAST|South Africa Summer Time|SAST|0
America/Jujuy|Argentina Standard Time|ART|Argentina Summer Time|ARST|0
Asia/Ashgabat|Turkmenistan Standard Time|TMT|Turkmenistan Summer Time|TMST|0
Asia/Dushanbe|Tajikistan Time|TJT|Tajikistan Summer Time|TJST|0
Asia/Jayapura|Eastern Indonesia Time|WIT|East Indonesia Summer Time|EIST|0
Asia/Katmandu|Nepal Time|NPT|Nepal Summer Time|NPST|0
Asia/Makassar|Central Indonesia Time|WITA|Central Indonesia Summer Time|CIST|0
Asia/Qostanay|East Kazakhstan Time|QOST|Kostanay Summer Time|QOSST|0
Asia/Sakhalin|Sakhalin Standard Time|SAKT|Sakhalin Summer Time|SAKST|0
Asia/Tashkent|Uzbekistan Standard Time|UZT|Uzbekistan Summer Time|UZST|0
Asia/Ust-Nera|Vladivostok Standard Time|VLAT|Vladivostok Summer Time|VLAST|0
Europe/Dublin|Greenwich Mean Time|GMT|Irish Standard Time|IST|60
Europe/Jersey|Greenwich Mean Time|GMT|British Summer Time|BST|60
Europe/Lisbon|Western European Standard Time|WET|Western European Summer Time|WEST|60
Europe/Samara|Samara Standard Time|SAMT|Samara Summer Time|SAMST|0
Indian/Chagos|Indian Ocean Time|IOT|Indian Ocean Territory Summer Time|IOST|0
Pacific/Efate|Vanuatu Standard Time|VUT|Vanuatu Summer Time|VUST|0
Pacific/Nauru|Nauru Time|NRT|Nauru Summer Time|NRST|0
Pacific/Palau|Palau Time|PWT|Palau Summer Time|PWST|0
America/Bogota|Colombia Standard Time|COT|Colombia Summer Time|COST|0
America/Cuiaba|Amazon Standard Time|AMT|Amazon Summer Time|AMST|0
America/Guyana|Guyana Time|GYT|Guyana Summer Time|GYST|0
America/Havana|Cuba Standard Time|CST|Cuba Daylight Time|CDT|60
America/La_Paz|Bolivia Time|BOT|Bolivia Summer Time|BOST|0
Asia/Hong_Kong|Hong Kong Standard Time|HKT|Hong Kong Summer Time|HKST|0
Asia/Kamchatka|Petropavlovsk-Kamchatski Standard Time|PETT|Petropavlovsk-Kamchatski Summer Time|PETST|0
Asia/Qyzylorda|West Kazakhstan Time|QYZT|Qyzylorda Summer Time|QYZST|0
Asia/Singapore|Singapore Standard Time|SGT|Singapore Summer Time|SGST|0
Indian/Reunion|Réunion Time|RET|Reunion Summer Time|REST|0
Pacific/Easter|Easter Island Standard Time|EAST|Easter Island Summer Time|EASST|60
Pacific/Kosrae|Kosrae Time|KOST|Kosrae Summer Time|KOSST|0
Pacific/Majuro|Marshall Islands Time|MHT|Marshall Islands Summer Time|MHST|0
Pacific/Midway|Samoa Standard Time|SST|Samoa Daylight Time|SDT|0
Pacific/Noumea|New Caledonia Standard Time|NCT|New Caledonia Summer Time|NCST|0
Pacific/Ponape|Ponape Time|PONT|Pohnpei Summer Time|PONST|0
Pacific/Tahiti|Tahiti Time|TAHT|Tahiti Summer Time|TAHST|0
Pacific/Tarawa|Gilbert Islands Time|GILT|Gilbert Is. Summer Time|GILST|0
Pacific/Wallis|Wallis & Futuna Time|WFT|Wallis & Futuna Summer Time|WFST|0
Africa/Windhoek|Central Africa Time|CAT|Western African Time|WAT|0
America/Caracas|Venezuela Time|VET|Venezuela Summer Time|VEST|0
America/Cayenne|French Guiana Time|GFT|French Guiana Summer Time|GFST|0
America/Godthab|West Greenland Standard Time|WGT|West Greenland Summer Time|WGST|60
America/Noronha|Fernando de Noronha Standard Time|FNT|Fernando de Noronha Summer Time|FNST|0
Asia/Choibalsan|Ulaanbaatar Standard Time|CHOT|Ulaanbaatar Summer Time|CHOST|0
Atlantic/Azores|Azores Standard Time|AZOT|Azores Summer Time|AZOST|60
Australia/Eucla|Australian Central Western Standard Time|ACWST|Australian Central Western Daylight Time|ACWDT|0
Australia/Perth|Australian Western Standard Time|AWST|Australian Western Daylight Time|AWDT|0
Indian/Maldives|Maldives Time|MVT|Maldives Summer Time|MVST|0
Pacific/Chatham|Chatham Standard Time|CHAST|Chatham Daylight Time|CHADT|60
Pacific/Fakaofo|Tokelau Time|TKT|Tokelau Summer Time|TKST|0
Pacific/Gambier|Gambier Time|GAMT|Gambier Summer Time|GAMST|0
Pacific/Norfolk|Norfolk Island Standard Time|NFT|Norfolk Island Daylight Time|NFST|60
America/Asuncion|Paraguay Standard Time|PYT|Paraguay Summer Time|PYST|0
America/Eirunepe|Acre Standard Time|ACT|Acre Summer Time|ACST|0
America/Mazatlan|Mexican Pacific Standard Time|MST|Mexican Pacific Daylight Time|MDT|0
America/Miquelon|St. Pierre & Miquelon Standard Time|PMST|St. Pierre & Miquelon Daylight Time|PMDT|60
America/Santiago|Chile Standard Time|CLT|Chile Summer Time|CLST|60
Antarctica/Casey|Casey Time|AWST|Australian Western Daylight Time|AWDT|0
Antarctica/Davis|Davis Time|DAVT|Davis Summer Time|DAVST|0
Antarctica/Syowa|Syowa Time|SYOT|Syowa Summer Time|SYOST|0
Antarctica/Troll|Greenwich Mean Time|GMT|Central European Summer Time|CEST|120
Asia/Krasnoyarsk|Krasnoyarsk Standard Time|KRAT|Krasnoyarsk Summer Time|KRAST|0
Asia/Novosibirsk|Novosibirsk Standard Time|NOVT|Novosibirsk Summer Time|NOVST|0
Asia/Ulaanbaatar|Ulaanbaatar Standard Time|ULAT|Ulaanbaatar Summer Time|ULAST|0
Atlantic/Stanley|Falkland Islands Standard Time|FKT|Falkland Islands Summer Time|FKST|0
Europe/Volgograd|Volgograd Standard Time|MSK|Volgograd Summer Time|MSD|0
Indian/Christmas|Christmas Island Time|CXT|Christmas Island Summer Time|CXST|0
Indian/Kerguelen|French Southern & Antarctic Time|TFT|French Southern & Antarctic Lands Summer Time|TFST|0
Indian/Mauritius|Mauritius Standard Time|MUT|Mauritius Summer Time|MUST|0
Pacific/Funafuti|Tuvalu Time|TVT|Tuvalu Summer Time|TVST|0
Pacific/Pitcairn|Pitcairn Time|PST|Pitcairn Daylight Time|PDT|0
America/Guayaquil|Ecuador Time|ECT|Ecuador Summer Time|ECST|0
Antarctica/Mawson|Mawson Time|MAWT|Mawson Summer Time|MAWST|0
Antarctica/Vostok|Vostok Time|VOST|Vostok Summer Time|VOSST|0
Pacific/Enderbury|Phoenix Islands Time|PHOT|Phoenix Is. Summer Time|PHOST|0
Pacific/Galapagos|Galapagos Time|GALT|Galapagos Summer Time|GALST|0
Pacific/Marquesas|Marquesas Time|MART|Marquesas Summer Time|MARST|0
Pacific/Rarotonga|Cook Islands Standard Time|CKT|Cook Islands Half Summer Time|CKHST|0
Pacific/Tongatapu|Tonga Standard Time|TOT|Tonga Summer Time|TOST|0
America/Montevideo|Uruguay Standard Time|UYT|Uruguay Summer Time|UYST|0
America/Paramaribo|Suriname Time|SRT|Suriname Summer Time|SRST|0
Antarctica/Rothera|Rothera Time|ROTT|Rothera Summer Time|ROTST|0
Asia/Yekaterinburg|Yekaterinburg Standard Time|YEKT|Yekaterinburg Summer Time|YEKST|0
Pacific/Kiritimati|Line Islands Time|LINT|Line Is. Summer Time|LINST|0
Atlantic/Cape_Verde|Cape Verde Standard Time|CVT|Cape Verde Summer Time|CVST|0
Australia/Lord_Howe|Lord Howe Standard Time|LHST|Lord Howe Daylight Time|LHDT|30
America/Santa_Isabel|Northwest Mexico Standard Time|PST|Northwest Mexico Daylight Time|PDT|60
America/Scoresbysund|East Greenland Standard Time|EGT|East Greenland Summer Time|EGST|60
Pacific/Port_Moresby|Papua New Guinea Time|PGT|Papua New Guinea Summer Time|PGST|0
Atlantic/South_Georgia|South Georgia Time|GST|South Georgia Daylight Time|GDT|0
Antarctica/DumontDUrville|Dumont-d’Urville Time|DDUT|Dumont-d'Urville Summer Time|DDUST|0
Asia/Kashgar|Xinjiang Standard Time|XJT|Xinjiang Daylight Time|XJDT|0
CET|Central European Time|CET|Central European Summer Time|CEST|60
Europe/Istanbul|Turkey Time|TRT|Turkey Summer Time|TRST|0
Asia/Tomsk|Tomsk Standard Time|GMT+07:00|Tomsk Daylight Time|GMT+07:00|0
HST|Hawaii Standard Time|HST|Hawaii Standard Time|HST|0
Europe/Saratov|Saratov Standard Time|GMT+04:00|Saratov Standard Time|GMT+04:00|0
America/Argentina/Buenos_Aires|Argentine Time|ART|Argentine Summer Time|ARST|0
Pacific/Bougainville|Bougainville Standard Time|BST|Bougainville Daylight Time|BST|0
Asia/Barnaul|Barnaul Standard Time|GMT+07:00|Barnaul Daylight Time|GMT+07:00|0
EST|Eastern Standard Time|EST|Eastern Standard Time|EST|0
MET|Middle Europe Time|MET|Middle Europe Summer Time|MEST|60
Africa/El_Aaiun|Western European Time|WET|Western European Summer Time|WEST|0
Antarctica/Palmer|Chile Time|CLT|Chile Summer Time|CLST|0
America/Punta_Arenas|Punta Arenas Standard Time|GMT-03:00|Punta Arenas Standard Time|GMT-03:00|0
Europe/Kirov|Moscow Standard Time|MSK|Moscow Daylight Time|MSD|0
Pacific/Kanton|Kanton Standard Time|GMT+13:00|Kanton Daylight Time|GMT+13:00|0
Europe/Astrakhan|Astrakhan Standard Time|GMT+04:00|Astrakhan Standard Time|GMT+04:00|0
MST|Mountain Standard Time|MST|Mountain Standard Time|MST|0
Asia/Famagusta|Eastern European Time|EET|Eastern European Summer Time|EEST|60
Europe/Ulyanovsk|Ulyanovsk Standard Time|GMT+04:00|Ulyanovsk Standard Time|GMT+04:00|0
Asia/Srednekolymsk|Srednekolymsk Time|SRET|Srednekolymsk Daylight Time|SREDT|0
`;

export interface ZoneNames {
  readonly zone: string;
  /** Long, short, long in summer, short in summer. */
  readonly names: readonly [string, string, string, string];
  readonly summerMs: number;
}

export const ZONE_NAMES: readonly ZoneNames[] = TABLE.trim()
  .split('\n')
  .map((row) => {
    const [zone = '', long = '', short = '', longSummer = '', shortSummer = '', minutes = '0'] = row.split('|');
    return { zone, names: [long, short, longSummer, shortSummer], summerMs: Number(minutes) * 60_000 };
  });
