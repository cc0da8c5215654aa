package driver

import (
	"context"
	"errors"
	"fmt"
	"net/url"

	"github.com/redis/go-redis/v9"

	"pgflurry/bench/trial"
)

// redisKey is the counter for INCR.
const redisKey = "pgflurry_bench"

// RedisDraw is clients of go-redis that increment one counter, each on a connection of its own.
type RedisDraw struct {
	Pipelined bool // PipelineLength commands a round trip, or else one
	Clients   int
}

// From makes a turn of the draw. target is a redis:// URL.
func (d RedisDraw) From(target string) trial.Turn { return drawFrom(d.Clients, d.dialer(target)) }

func (d RedisDraw) dialer(target string) func(context.Context) (client, error) {
	return func(ctx context.Context) (client, error) {
		pool, err := openRedis(target)
		if err != nil {
			return nil, err
		}
		c := &redisClient{pool: pool, conn: pool.Conn(), pipelined: d.Pipelined}
		if err := c.conn.Ping(ctx).Err(); err != nil {
			c.close(ctx)
			return nil, err
		}
		return c, nil
	}
}

// openRedis returns a pool of one connection without retries.
func openRedis(target string) (*redis.Client, error) {
	options, err := redisOptions(target)
	if err != nil {
		return nil, err
	}
	options.PoolSize, options.MaxRetries = 1, -1
	return redis.NewClient(options), nil
}

// redisOptions parses a URL.
func redisOptions(target string) (*redis.Options, error) {
	options, err := redis.ParseURL(target)
	if err != nil {
		if withText, is := errors.AsType[*url.Error](err); is {
			err = withText.Err // drop the text, which may have a password
		}
		return nil, fmt.Errorf("%w; expected redis://[user:password@]host:port[/number]", err)
	}
	return options, nil
}

type redisClient struct {
	pool      *redis.Client
	conn      *redis.Conn
	pipelined bool
}

func (c *redisClient) trip(ctx context.Context) (int, error) {
	if !c.pipelined {
		return 1, c.conn.Incr(ctx, redisKey).Err()
	}
	p := c.conn.Pipeline()
	for range PipelineLength {
		p.Incr(ctx, redisKey)
	}
	answers, err := p.Exec(ctx)
	return len(answers), err
}

func (c *redisClient) close(context.Context) {
	_ = c.conn.Close()
	_ = c.pool.Close()
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
