import { texts as frame } from './frame.ts';

export const texts = {
  ...frame,
  // The document
  noKey: 'A key in double quotes belongs here.',
  noValue: 'A value belongs here: text in double quotes, a number, true or false.',
  keyTwice: (key: string) => `The key ${key} occurs twice. Only its last value would count.`,
  moreText: 'The document ends before this.',
  notJson: (text: string) => `This is not JSON: ${text}`,
  expected: (wanted: string, found: string) =>
    found === '' ? `${wanted} is missing at the end.` : `${wanted} belongs here, before ${found}.`,

  // The form
  requiredGroup: 'Required',
  noGroup: 'More options',
  otherKeys: 'Other keys',
  otherKeysHint: 'No loaded plugin knows these keys. They are kept unchanged.',
  advanced: (count: number) => `Advanced (${String(count)})`,
  notSet: 'not set',
  isDefault: (value: string) => `Default (${value})`,
  keptSecret: 'Stored. Type to replace it.',
  remove: (key: string) => `Remove ${key}`,
  addKey: 'Add a key',
  addKeyLabel: 'Another key',

  // The editor
  views: 'How the configuration is shown',
  form: 'Form',
  json: 'JSON',
  jsonLabel: 'Configuration as JSON',
  notSwitched: 'The form cannot show the text while its JSON is invalid.',
  checking: 'Checking…',
  valid: 'The configuration is valid.',
  validSoFar: 'The values are valid; the connection was not checked.',
  missing: (count: number) =>
    count === 1 ? '1 required option is missing.' : `${String(count)} required options are missing.`,
  problems: (count: number) => (count === 1 ? '1 problem' : `${String(count)} problems`),
  lineProblem: (line: number, text: string) => `Line ${String(line)}: ${text}`,
  keyProblem: (key: string, text: string) => `${key}: ${text}`,
  unknownOption: (key: string, nearest: string) => `There is no option ${key}; did you mean ${nearest}?`,
  notChecked: (reason: string) => `The configuration could not be checked. ${reason}`,
  copies: 'Copy the configuration',
  copyAs: 'Copy as',
  copyCurl: 'Copy as curl',
  copyProperties: 'Copy as properties',
  copyStrimzi: 'Copy for Strimzi',
  findOption: 'Find an option',
  noOption: 'No option matches.',
  deadLettersAdded: 'The options that keep failed records were added. Review the changes, then save.',
  copiesHint: 'Secrets are variables in what is copied.',

  // Saving
  save: 'Review changes',
  saveNow: 'Save',
  discard: 'Discard changes',
  noChanges: 'No changes.',
  changes: (count: number) => (count === 1 ? '1 change' : `${String(count)} changes`),
  unsaved: (count: number) =>
    `${count === 0 ? 'The text is invalid' : count === 1 ? '1 change' : `${String(count)} changes`}, not saved but kept while this page is open.`,
  moved:
    'The stored configuration has changed since. Your changes were applied to the new one: check the difference before you save.',
  configurationOf: (name: string) => `configuration of ${name}`,
  discardNew: 'Discard',
  draftKept: 'Not created yet. It is kept while this page is open.',
  saveTitle: (name: string) => `Save ${name}?`,
  changeTitles: ['Key', 'Change', 'Stored', 'New'],
  kinds: { added: 'added', changed: 'changed', removed: 'removed' },
  secretShown: 'secret',
  absent: '–',
  restarts: (tasks: number) =>
    tasks === 0
      ? 'The connector restarts.'
      : `The connector and its ${tasks === 1 ? 'task' : `${String(tasks)} tasks`} restart, and continue where they stopped.`,
  restartsNothing: 'Nothing restarts: rate limits change while tasks run.',
  restartsStopped: 'The connector is stopped: nothing starts until it is resumed.',
  restartsPaused: 'The connector is paused: it takes the new configuration, and delivers nothing until it is resumed.',
  withheld: (keys: string, because: string) =>
    `The secret of ${keys} has not been sent to the address that ${because} names now. Give its value to have the connection checked.`,
  sentAlong: (keys: string, because: string) =>
    `The secret of ${keys} is then sent to the address that ${because} names now.`,
  saved: 'Saved.',
  reload: 'Reload',

  // A new connector
  newConnector: 'New connector',
  readOnlyCreate: 'Connectors are created through the API: POST /connectors.',
  class: 'Class',
  classKept: 'Another class can be chosen once the JSON below is valid: until then your text would be lost.',
  chooseClass: 'Choose a class…',
  sinks: 'Sinks: from Kafka',
  sources: 'Sources: to Kafka',
  chooseFirst: 'Choose what the connector does. Its options come next.',
  cards: [
    { class: 'DbSinkConnector', title: 'Kafka → database', what: 'Writes the records of topics to tables.' },
    {
      class: 'DbSourceConnector',
      title: 'Database → Kafka',
      what: 'Sends the rows of tables, and new rows, to topics.',
    },
    {
      class: 'PostgresConnector',
      title: 'Change log → Kafka',
      what: 'Sends every insert, update and delete, in order.',
    },
    { class: 'FileStreamSourceConnector', title: 'File → Kafka', what: 'Sends the lines of a file to a topic.' },
    { class: 'FileStreamSinkConnector', title: 'Kafka → file', what: 'Appends the records of topics to a file.' },
  ],
  keepFailed: 'Keep records that fail in a dead-letter topic',
  nameFirst: '(enter the name of the connector first)',
  tables: 'Tables',
  listTables: 'List the tables',
  listAgain: 'Refresh',
  connectFirst: 'Enter the connection below first, then list the tables.',
  tableFilter: 'Filter tables',
  mode: 'Read by',
  modes: {
    timestamp: 'time: new rows have a later time',
    incrementing: 'number: new rows have a larger number',
    bulk: 'everything, again and again',
  },
  noTables: 'The database has no tables.',
  moreTables: (count: number) => `${String(count)} more are not shown.`,
  rowsUnknown: 'rows unknown',
  rowsOf: (rows: string, precision: string) =>
    precision === 'exact' ? `${rows} rows` : precision === 'atLeast' ? `more than ${rows} rows` : `about ${rows} rows`,
  toTopics: 'topics',
  toPrefixed: (prefix: string) => `topics that begin with ${prefix}`,
  aboutRows: (rows: string, isBulk: boolean) => (isBulk ? `${rows} rows each time` : `${rows} existing rows`),
  readsAllUnknown: (topics: string) =>
    `Reads every table of the database into ${topics}, also tables that are created later.`,
  readsSome: (include: string, topics: string) => `Reads the tables that match ${include} into ${topics}.`,
  readsAll: (count: number, rows: string, topics: string) =>
    `Reads all ${String(count)} tables (${rows}) into ${topics}, also tables that are created later.`,
  readsNone: 'Reads no table: none matches.',
  readsChosen: (names: readonly string[], rows: string, topics: string) =>
    `Reads ${names.length <= 3 ? names.join(', ') : `${String(names.length)} tables`} (${rows}) into ${topics}.`,
  topics: 'Topics',
  topicFilter: 'Filter topics',
  noTopics: 'No topic matches.',
  noTopicsNext: 'There are no topics yet. Create one, or let a source create it, then reload the page.',
  moreTopics: (count: number) => `${String(count)} more: type to filter.`,
  initialState: 'Initial state',
  initialStates: { RUNNING: 'running', PAUSED: 'paused', STOPPED: 'stopped' },
  createNow: 'Create',
  creating: 'Creating…',
  notCreated: 'Nothing was created. Fix the marked fields first.',

  // The effect of a change
  previewTitle: 'What would happen',
  previewHint: 'Looks at the newest messages of the topic. Nothing is written, and no offset is committed.',
  topic: 'Topic',
  messages: 'Show messages',
  preview: 'Preview',
  noMessages: 'The topic has no messages yet.',
  messageTitles: ['Message', 'Key', 'Value', 'Faults'],
  messageAt: (partition: number, offset: number) => `${String(partition)}:${String(offset)}`,
  recordTitles: ['Message', 'Record', 'Becomes', 'Faults'],
  dropped: 'Dropped by a transformation',
  noPreview: 'nothing to show',
  fault: (stage: string, message: string) => `${stage}: ${message}`,
} as const;
