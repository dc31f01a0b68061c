import { useEffect, useRef, useState } from 'preact/hooks';
import type { MessagePage, ShownMessage } from '../common/answers.ts';
import { inPath, request } from '../common/api.ts';
import type { Hints } from '../common/addresses.ts';
import { hints } from '../common/route.ts';
import { saveFile } from '../common/save-file.ts';
import type { PartProps } from '../connector/health.ts';
import { Button } from '../kit/button.tsx';
import { SelectField, TextField } from '../kit/field.tsx';
import { Form } from '../kit/form.tsx';
import { Problem } from '../kit/problem.tsx';
import { texts } from '../texts/data.ts';
import './data.css';
import { MessageTable } from './message-table.tsx';
import { NO_FIELDS, queryOf, type Fields } from './message.ts';

interface Search {
  readonly fields: Fields;
  readonly pages: readonly MessagePage[];
}

/** Shows messages of the topics that a sink reads or a source has written, decoded by the converters of the connector. */
export function ConnectorData({ name, health }: PartProps) {
  const isSink = health.type === 'sink';
  const [fields, setFields] = useState(() => fieldsOf(hints.value));
  const [search, setSearch] = useState<Search>({ fields: NO_FIELDS, pages: [] });
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState('');
  const asked = useRef(0);
  const path = `/ui/connectors/${inPath(name)}/messages`;

  const look = async (wanted: Fields, before: readonly MessagePage[]): Promise<void> => {
    const query = queryOf(wanted, before.at(-1)?.next);
    if (query === undefined) {
      setProblem(texts.badOffset);
      return;
    }
    const number = ++asked.current;
    setBusy(true);
    setProblem('');
    try {
      const page = await request<MessagePage>('POST', path, query);
      if (number === asked.current) setSearch({ fields: wanted, pages: [...before, page] });
    } catch (error) {
      if (number === asked.current) setProblem((error as Error).message);
    }
    if (number === asked.current) setBusy(false);
  };

  useEffect(() => {
    void look(fields, []);
    return () => {
      asked.current += 1;
    };
  }, [name]);

  const topics = search.pages.at(-1)?.topics ?? [];
  return (
    <section aria-label={texts.messages}>
      <SearchForm
        fields={fields}
        topics={topics}
        change={setFields}
        search={() => void look(fields, [])}
        reset={() => {
          setFields(NO_FIELDS);
          void look(NO_FIELDS, []);
        }}
      />
      <Problem text={problem} />
      <Outcome
        path={path}
        isSink={isSink}
        search={search}
        isBusy={isBusy}
        loadMore={() => void look(search.fields, search.pages)}
      />
    </section>
  );
}

/** The search fields that a link sets. */
function fieldsOf({ topic = '', partition = '', offset = '' }: Hints): Fields {
  return { ...NO_FIELDS, topic, partition, offset };
}

interface SearchFormProps {
  readonly fields: Fields;
  readonly topics: MessagePage['topics'];
  readonly change: (fields: Fields) => void;
  readonly search: () => void;
  readonly reset: () => void;
}

function SearchForm({ fields, topics, change, search, reset }: SearchFormProps) {
  const chosen = topics.filter(({ topic }) => fields.topic === '' || topic === fields.topic);
  const partitions = Math.max(0, ...chosen.map((each) => each.partitions));
  const field = (name: keyof Fields, label: string) => ({
    label,
    value: fields[name],
    onInput: (value: string) => change({ ...fields, [name]: value }),
  });
  return (
    <Form class="filters messages-search" onSubmit={search}>
      {topics.length < 2 ? null : (
        <SelectField
          label={texts.topic}
          value={fields.topic}
          none={texts.allTopics}
          options={topics.map(({ topic }) => topic)}
          onChange={(topic) => change({ ...fields, topic, partition: '' })}
        />
      )}
      {partitions < 2 ? null : (
        <SelectField
          label={texts.partition}
          value={fields.partition}
          none={texts.allPartitions}
          options={Array.from({ length: partitions }, (_, partition) => String(partition))}
          onChange={(partition) => change({ ...fields, partition })}
        />
      )}
      <TextField {...field('key', texts.key)} title={texts.keyHint} />
      <TextField {...field('offset', texts.upToOffset)} inputMode="numeric" class="short" />
      <TextField
        {...field('time', texts.upToTime(Intl.DateTimeFormat().resolvedOptions().timeZone))}
        type="datetime-local"
      />
      <button type="submit" class="primary">
        {texts.search}
      </button>
      <Button onClick={reset}>{texts.newest}</Button>
    </Form>
  );
}

interface OutcomeProps {
  readonly path: string;
  readonly isSink: boolean;
  readonly search: Search;
  readonly isBusy: boolean;
  readonly loadMore: () => void;
}

function Outcome({ path, isSink, search: { fields, pages }, isBusy, loadMore }: OutcomeProps) {
  const messages = pages.flatMap((page): readonly ShownMessage[] => page.messages);
  const searched = pages.reduce((sum, page) => sum + page.searched, 0);
  const last = pages.at(-1);
  const hasMore = last !== undefined && last.next.length > 0;
  const isSearch = Object.values(fields).some((value) => value !== '');
  return (
    <>
      {messages.length === 0 ? null : (
        <MessageTable path={path} isSink={isSink} messages={messages} hasTopics={(last?.topics.length ?? 0) > 1} />
      )}
      {messages.length === 0 ? null : (
        <Button onClick={() => saveFile('messages.jsonl', messages.map(jsonLine).join(''), 'application/jsonl')}>
          {texts.saveMessages(messages.length)}
        </Button>
      )}
      <p role="status" class="quiet">
        {isBusy ? texts.searching : last === undefined ? '' : searchedText(searched, hasMore)}
      </p>
      {!isBusy && last !== undefined && messages.length === 0 && !hasMore ? (
        <p class="empty">{emptyText(last.topics.length > 0, isSink, isSearch)}</p>
      ) : null}
      {hasMore ? (
        <Button disabled={isBusy} onClick={loadMore}>
          {fields.key === '' ? texts.older : texts.continueSearch}
        </Button>
      ) : null}
    </>
  );
}

/** A message as one line of JSON. Long keys and values are already cut off by the worker. */
function jsonLine(message: ShownMessage): string {
  return `${JSON.stringify(message)}\n`;
}

function searchedText(count: number, hasMore: boolean): string {
  return hasMore ? texts.searchedTo(count) : texts.searched(count);
}

function emptyText(hasTopics: boolean, isSink: boolean, isSearch: boolean): string {
  if (!hasTopics) return isSink ? texts.noTopics : texts.noneWritten;
  return isSearch ? texts.notFound : texts.noMessages;
}
