import { useEffect, useState } from 'preact/hooks';
import type { ConsoleValidation, PluginInfo, SourceTables } from '../common/answers.ts';
import { request } from '../common/api.ts';
import { DeletedFold } from '../common/deleted-fold.tsx';
import { refresh, worker } from '../common/fleet-store.ts';
import { shortClass } from '../common/format.ts';
import { connectorAddress, CREATE_ADDRESS } from '../common/addresses.ts';
import { setUnfinished } from '../common/unfinished.ts';
import { useAction } from '../kit/action.ts';
import { Button } from '../kit/button.tsx';
import { SelectField } from '../kit/field.tsx';
import { Form } from '../kit/form.tsx';
import { useLoaded } from '../kit/loaded.tsx';
import { Problem } from '../kit/problem.tsx';
import { texts } from '../texts/editor.ts';
import { ConfigFields } from './config-form-view.tsx';
import { configBody, topicsIn, valueIn, withoutKey, withValue, type Entry } from './config-document.ts';
import { fieldsOf, withheldTexts } from './config-form.ts';
import { deadLetterOptions, withDeadLetters } from './dead-letter-options.ts';
import { DocumentEditor } from './document-editor.tsx';
import { FirstProblem, openField, useProblems } from './document-problems.tsx';
import { useDocument, useValidation, type Checked, type EditedDocument } from './edited-document.ts';
import { MessagePreview } from './message-preview.tsx';
import { sourceSentence } from './source-tables.ts';
import { TablePicker } from './table-picker.tsx';
import { TopicPicker } from './topic-picker.tsx';
import { WrittenTopics } from './written-topics-view.tsx';

const STATES = ['RUNNING', 'PAUSED', 'STOPPED'] as const;
type State = (typeof STATES)[number];

const ORDER = ['name', 'connector.class', 'tasks.max', 'topics'];
const CLASS_HINT = 'class-hint';
/** The placeholder that the worker shows instead of a stored secret. A new connector has no stored secrets. */
const MARK = '[hidden]';

/** The view that creates a connector: class, topics or tables, options, and a preview. */
export function CreateView() {
  const { value: plugins = [], error } = useLoaded('plugins', () =>
    request<readonly PluginInfo[]>('GET', '/connector-plugins'),
  );
  const [round, setRound] = useState(0);
  if (worker.value?.readOnly === true) return <p class="empty">{texts.readOnlyCreate}</p>;
  return (
    <>
      <h1>{texts.newConnector}</h1>
      <Problem text={error?.message ?? ''} />
      <NewConnector key={round} plugins={plugins} again={() => setRound(round + 1)} />
      <DeletedFold />
    </>
  );
}

interface NewDraft {
  readonly entries: readonly Entry[];
  readonly text: string | undefined;
  readonly state: State;
}

const NO_DRAFT: NewDraft = { entries: [], text: undefined, state: 'RUNNING' };
/** The current draft, which survives when the user leaves the view. It is only kept in memory, because it may contain secrets. */
let draft = NO_DRAFT;

function keep(next: NewDraft): boolean {
  draft = next;
  const isUnfinished = next.entries.length > 1 || next.text !== undefined;
  setUnfinished({ address: CREATE_ADDRESS, title: texts.newConnector }, isUnfinished);
  return isUnfinished;
}

interface NewConnectorProps {
  readonly plugins: readonly PluginInfo[];
  /** Starts again with an empty document. */
  readonly again: () => void;
}

function NewConnector({ plugins, again }: NewConnectorProps) {
  const edited = useDocument(draft.entries, draft.text);
  const checked = useValidation(edited.entries, undefined);
  const [isTried, setTried] = useState(false);
  const problems = useProblems(edited, checked, isTried);
  const [state, setState] = useState(draft.state);
  const [isUnfinished, setUnfinishedHere] = useState(false);
  const [tables, setTables] = useState<SourceTables | undefined>();
  const { isBusy, problem, report, run } = useAction();
  const { entries, text, isWrong } = edited;
  // An error refers to the entries that were sent, so it is removed when they change.
  useEffect(() => report(''), [entries]);
  useEffect(() => {
    setUnfinishedHere(keep({ entries, text, state }));
  }, [entries, text, state]);
  const className = valueIn(entries, 'connector.class') ?? '';
  const type = plugins.find((each) => each.class === className)?.type;
  const withheld = withheldTexts(checked.validation?.withheld);
  const create = (): Promise<void> => {
    setTried(true);
    return run(() => createConnector(entries, state, checked.validation));
  };
  const discard = (): void => {
    keep(NO_DRAFT);
    again();
  };
  const isTableSource = className.endsWith(TABLE_SOURCE);
  const onChosen = useFirstField(isTableSource ? 'connection.url' : 'name', checked);
  if (className === '') return <ClassChoice plugins={plugins} document={edited} onChosen={onChosen} />;
  return (
    <>
      <ClassField plugins={plugins} document={edited} className={className} />
      {isWrong ? null : (
        <Choices
          type={type}
          document={edited}
          checked={checked}
          showsMissing={isTried}
          tables={tables}
          onTables={setTables}
        />
      )}
      {withheld === undefined ? null : <p role="status">{texts.withheld(...withheld)}</p>}
      <DocumentEditor
        document={edited}
        checked={checked}
        stored={[]}
        connector={undefined}
        order={ORDER}
        mark={MARK}
        problems={problems}
        showsMissing={isTried}
        isReadOnly={false}
        apart={['connector.class', ...(isTableSource ? [...CONNECTION, ...NAME_AND_TOPICS] : [])]}
      />
      {type === 'sink' ? <MessagePreview entries={entries} /> : null}
      <div class="foot">
        <p>{isTableSource ? sentenceOf(entries, tables) : ''}</p>
        {type === 'source' ? <WrittenTopics entries={entries} checked={checked} change={edited.change} /> : null}
        <div class="bulk saving">
          <StateField state={state} onChange={setState} />
          <Button class="primary" disabled={isBusy || isWrong || checked.isStale} onClick={create}>
            {isBusy ? texts.creating : texts.createNow}
          </Button>
          <FirstProblem problems={problems} />
          {isUnfinished ? (
            <>
              <Button disabled={isBusy} onClick={discard}>
                {texts.discardNew}
              </Button>
              <span class="quiet">{texts.draftKept}</span>
            </>
          ) : null}
        </div>
        <Problem text={problem} />
      </div>
    </>
  );
}

/**
 * Gives the field of a key the focus after the user has pressed a card, which then disappears. Returns the function to call when a card
 * was pressed.
 */
function useFirstField(key: string, { validation }: Checked): () => void {
  const [isChosen, setChosen] = useState(false);
  const isShown = validation !== undefined;
  useEffect(() => {
    if (isChosen && isShown) openField(key);
  }, [isChosen, isShown]);
  return () => setChosen(true);
}

/** Class name of the source whose tables the user can choose from a list. */
const TABLE_SOURCE = 'DbSourceConnector';
/** Options of that source that are shown before and after its tables. */
const CONNECTION = ['connection.url', 'connection.user', 'connection.password', 'connection.database'];
const NAME_AND_TOPICS = ['name', 'topic.prefix', 'out.format'];

interface ChoicesProps {
  readonly type: string | undefined;
  readonly document: EditedDocument;
  readonly checked: Checked;
  /** Whether to show errors of keys that are missing in the document. */
  readonly showsMissing: boolean;
  readonly tables: SourceTables | undefined;
  readonly onTables: (tables: SourceTables) => void;
}

/** The choice of the topics of a sink or of the tables of a source. */
function Choices({ type, document, checked, showsMissing, tables, onTables }: ChoicesProps) {
  const { entries, change } = document;
  if (type === 'sink')
    return (
      <>
        <Topics document={document} />
        <KeepFailed document={document} />
      </>
    );
  if (valueIn(entries, 'connector.class')?.endsWith(TABLE_SOURCE) !== true) return null;
  const set = (key: string, value: string | undefined): void => {
    change(value === undefined ? withoutKey(entries, key) : withValue(entries, key, value, ORDER));
  };
  const fields = (keys: readonly string[]) =>
    checked.validation === undefined || document.text !== undefined ? null : (
      <ConfigFields
        fields={fieldsOf(checked.validation, entries, keys)}
        entries={entries}
        order={ORDER}
        stored={[]}
        mark={MARK}
        showsMissing={showsMissing}
        isReadOnly={false}
        onChange={change}
      />
    );
  return (
    <>
      <TablePicker entries={entries} tables={tables} onTables={onTables} change={set}>
        {fields(CONNECTION)}
      </TablePicker>
      {document.text === undefined ? (
        <Form class="config-form">
          <fieldset class="topics">
            <legend>{texts.nameAndTopics}</legend>
            {fields(NAME_AND_TOPICS)}
          </fieldset>
        </Form>
      ) : null}
    </>
  );
}

const DEAD_LETTER_TOPIC = 'errors.deadletterqueue.topic.name';

/** A checkbox for a dead-letter topic, without which a sink fails at the first record that it cannot store. */
function KeepFailed({ document: { entries, change } }: { readonly document: EditedDocument }) {
  const name = valueIn(entries, 'name') ?? '';
  const isKept = (valueIn(entries, DEAD_LETTER_TOPIC) ?? '') !== '';
  const choose = (keeps: boolean): void => {
    const without = Object.keys(deadLetterOptions(name)).reduce(withoutKey, entries);
    change(keeps ? withDeadLetters(name, entries) : without);
  };
  return (
    <label class="keep-failed">
      <input
        type="checkbox"
        checked={isKept}
        disabled={name === '' && !isKept}
        onChange={({ currentTarget }) => choose(currentTarget.checked)}
      />
      {texts.keepFailed} {name === '' ? <span class="quiet">{texts.nameFirst}</span> : null}
    </label>
  );
}

function sentenceOf(entries: readonly Entry[], tables: SourceTables | undefined): string {
  const include = valueIn(entries, 'table.include') ?? '';
  return sourceSentence(tables?.tables, {
    include: include.trim() === '' ? undefined : include,
    mode: valueIn(entries, 'mode') ?? 'timestamp',
    prefix: valueIn(entries, 'topic.prefix') ?? '',
  });
}

/** Creates the connector and shows it. */
async function createConnector(
  entries: readonly Entry[],
  state: State,
  validation: ConsoleValidation | undefined,
): Promise<void> {
  const isWrong = validation?.configs.some(({ value }) => value.errors.length > 0) ?? true;
  if (isWrong) throw new Error(texts.notCreated);
  const name = valueIn(entries, 'name') ?? '';
  await request('POST', '/ui/connectors', { name, config: configBody(entries), initial_state: state });
  keep(NO_DRAFT);
  await refresh().catch(() => undefined);
  location.hash = connectorAddress(name);
}

interface ClassChoiceProps {
  readonly plugins: readonly PluginInfo[];
  readonly document: EditedDocument;
  /** Called when the user has pressed a card. */
  readonly onChosen: () => void;
}

/** The first step, in which the user chooses the class: from cards for common purposes, or from a list of all classes. */
function ClassChoice({ plugins, document, onChosen }: ClassChoiceProps) {
  const { entries, change } = document;
  const choose = (className: string): void => {
    change(withValue(entries, 'connector.class', className, ORDER));
    onChosen();
  };
  const cards = texts.cards.flatMap((card) => {
    const found = plugins.find((plugin) => plugin.class.endsWith(`.${card.class}`));
    return found === undefined ? [] : [{ ...card, class: found.class }];
  });
  return (
    <>
      <p class="quiet">{texts.chooseFirst}</p>
      <div class="cards">
        {cards.map((card) => (
          <Button key={card.class} class="card" onClick={() => choose(card.class)}>
            <strong>{card.title}</strong>
            <span>{card.what}</span>
          </Button>
        ))}
      </div>
      <ClassField plugins={plugins} document={document} className="" />
    </>
  );
}

interface ClassFieldProps {
  readonly plugins: readonly PluginInfo[];
  readonly document: EditedDocument;
  readonly className: string;
}

function ClassField({ plugins, document: { entries, isWrong, change }, className }: ClassFieldProps) {
  return (
    <div class="filters">
      <SelectField
        label={texts.class}
        value={className}
        options={[]}
        disabled={isWrong}
        aria-describedby={isWrong ? CLASS_HINT : undefined}
        onChange={(chosen) => change(withValue(entries, 'connector.class', chosen, ORDER))}
      >
        <option value="" disabled>
          {texts.chooseClass}
        </option>
        <Classes plugins={plugins} type="sink" label={texts.sinks} />
        <Classes plugins={plugins} type="source" label={texts.sources} />
      </SelectField>
      {isWrong ? (
        <span id={CLASS_HINT} class="quiet hint">
          {texts.classKept}
        </span>
      ) : null}
    </div>
  );
}

interface ClassesProps {
  readonly plugins: readonly PluginInfo[];
  readonly type: string;
  readonly label: string;
}

function Classes({ plugins, type, label }: ClassesProps) {
  const found = plugins.filter((plugin) => plugin.type === type).map((plugin) => plugin.class);
  return (
    <optgroup label={label}>
      {[...new Set(found)].map((className) => (
        <option key={className} value={className}>
          {shortClass(className)}
        </option>
      ))}
    </optgroup>
  );
}

function Topics({ document: { entries, change } }: { readonly document: EditedDocument }) {
  const choose = (topics: readonly string[]): void => {
    const isNone = topics.length === 0;
    change(isNone ? withoutKey(entries, 'topics') : withValue(entries, 'topics', topics.join(','), ORDER));
  };
  return <TopicPicker chosen={topicsIn(entries)} onChange={choose} />;
}

function StateField({ state, onChange }: { readonly state: State; readonly onChange: (state: State) => void }) {
  return (
    <SelectField
      label={texts.initialState}
      value={state}
      options={STATES}
      text={(each) => texts.initialStates[each]}
      onChange={onChange}
    />
  );
}
