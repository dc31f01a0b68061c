import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { MessagePage, ShownMessage } from '../common/answers.ts';
import { inPath } from '../common/api.ts';
import type { Hints } from '../common/addresses.ts';
import { hints } from '../common/route.ts';
import { saveFile } from '../common/save-file.ts';
import { clockTime } from '../common/time.ts';
import type { PartProps } from '../connector/health.ts';
import { Button } from '../kit/button.tsx';
import { SelectField, TextField } from '../kit/field.tsx';
import { Form } from '../kit/form.tsx';
import { Problem } from '../kit/problem.tsx';
import { texts } from '../texts/data.ts';
import './data.css';
import { useMessageSearch, type Search } from './message-search.ts';
import { MessageTable } from './message-table.tsx';
import { NO_FIELDS, type Fields } from './message.ts';

/** Shows messages of the topics that a sink reads or a source has written, decoded by the converters of the connector. */
export function ConnectorData({ name, health }: PartProps) {
  const isSink = health.type === 'sink';
  const [fields, setFields] = useState(() => fieldsOf(hints.value));
  const path = `/ui/connectors/${inPath(name)}/messages`;
  const { search, isBusy, problem, live, find, findOlder, follow } = useMessageSearch(path);
  const change = (wanted: Fields, work: (fields: Fields) => Promise<void>): void => {
    setFields(wanted);
    void work(wanted);
  };
  useEffect(() => {
    void find(fields);
  }, [name]);
  const topics = search.pages.at(-1)?.topics ?? [];
  return (
    <section aria-label={texts.messages}>
      <SearchForm
        fields={fields}
        topics={topics}
        change={setFields}
        search={() => void find(fields)}
        reset={() => change(NO_FIELDS, find)}
      >
        {live.until === undefined ? (
          <Button onClick={() => change({ ...fields, offset: '', time: '' }, follow)}>{texts.live}</Button>
        ) : (
          <Button aria-pressed onClick={live.stop}>
            {texts.stopLive}
          </Button>
        )}
      </SearchForm>
      <p role="status" class="quiet">
        {live.until === undefined ? live.ended : texts.liveUntil(clockTime(live.until))}{' '}
        {search.hasGap ? texts.liveGap : ''}
      </p>
      <Problem text={problem} />
      <Outcome path={path} isSink={isSink} search={search} isBusy={isBusy} loadMore={() => void findOlder()} />
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
  /** Further buttons. */
  readonly children: ComponentChildren;
}

function SearchForm({ fields, topics, change, search, reset, children }: SearchFormProps) {
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
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
      <TextField {...field('text', texts.textInValue)} title={texts.textHint} />
      <TextField {...field('fromOffset', texts.fromOffset)} inputMode="numeric" class="short" />
      <TextField {...field('offset', texts.upToOffset)} inputMode="numeric" class="short" />
      <TextField {...field('fromTime', texts.fromTime(zone))} type="datetime-local" />
      <TextField {...field('time', texts.upToTime(zone))} type="datetime-local" />
      <button type="submit" class="primary">
        {texts.search}
      </button>
      <Button onClick={reset}>{texts.newest}</Button>
      {children}
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
          {fields.key === '' && fields.text === '' ? texts.older : texts.continueSearch}
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
