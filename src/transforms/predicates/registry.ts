import type { PredicatePlugin } from '../../connect/api.ts';
import { hasHeaderKey } from './has-header-key.ts';
import { recordIsTombstone } from './record-is-tombstone.ts';
import { topicNameMatches } from './topic-name-matches.ts';

/**
 * The predicates of Apache Kafka 4.3.
 * @internal
 */
export const predicatePlugins: readonly PredicatePlugin[] = [hasHeaderKey, recordIsTombstone, topicNameMatches];
