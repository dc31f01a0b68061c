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
  copyCurl: 'Copy as curl',
  copyProperties: 'Copy as properties',
  copyStrimzi: 'Copy for Strimzi',
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
  chooseFirst: 'Choose what the connector is. Its options come next.',
  topics: 'Topics',
  topicFilter: 'Filter topics',
  noTopics: 'No topic matches.',
  noTopicsNext: 'There are no topics yet. Create one, or let a source create it, and look again.',
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
