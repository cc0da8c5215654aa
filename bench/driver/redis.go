package driver

import (
	"context"
	"errors"
	"fmt"
	"net/url"

	"github.com/redis/go-redis/v9"
)

// redisKey is the counter for INCR.
const redisKey = "pgflurry_bench"

// PipelineLength is how many statements, or commands of Redis, are in a pipelined round trip.
const PipelineLength = 50

// Incr dials clients of go-redis that increment one counter, pipelined or one a round trip.
func Incr(pipelined bool) Dial {
	return func(ctx context.Context, target string) (Call, func(), error) {
		pool, err := openRedis(target)
		if err != nil {
			return nil, nil, err
		}
		conn := pool.Conn()
		end := func() { _, _ = conn.Close(), pool.Close() }
		if err := conn.Ping(ctx).Err(); err != nil {
			end()
			return nil, nil, err
		}
		if pipelined {
			return func(ctx context.Context) (int, error) {
				p := conn.Pipeline()
				for range PipelineLength {
					p.Incr(ctx, redisKey)
				}
				answers, err := p.Exec(ctx)
				return len(answers), err
			}, end, nil
		}
		return func(ctx context.Context) (int, error) { return 1, conn.Incr(ctx, redisKey).Err() }, end, nil
	}
}

// openRedis returns a pool of one connection without retries.
func openRedis(target string) (*redis.Client, error) {
	options, err := redis.ParseURL(target)
	if err != nil {
		if withText, is := errors.AsType[*url.Error](err); is {
			err = withText.Err // drop the text, which may have a password
		}
		return nil, fmt.Errorf("%w; expected redis://[user:password@]host:port[/number]", err)
	}
	options.PoolSize, options.MaxRetries = 1, -1
	return redis.NewClient(options), nil
}

// CleanUpRedis deletes the counter.
func CleanUpRedis(ctx context.Context, target string) error {
	pool, err := openRedis(target)
	if err != nil {
		return err
	}
	defer pool.Close()
	return pool.Del(ctx, redisKey).Err()
}

// RedisVersion asks the server for its version.
func RedisVersion(ctx context.Context, target string) (string, error) {
	pool, err := openRedis(target)
	if err != nil {
		return "", err
	}
	defer pool.Close()
	info, err := pool.InfoMap(ctx, "server").Result()
	if err != nil {
		return "", err
	}
	return "Redis " + info["Server"]["redis_version"], nil
}
