// Package elasticsearch stands in for the client of a storage that this build leaves out:
// it has the names that Jaeger compiles against, and refuses to connect. Without it the
// build compiles 847 packages that are never used here.
package elasticsearch

import (
	"errors"
	"net/http"

	"github.com/elastic/go-elasticsearch/v9/esapi"
)

// Config holds what Jaeger sets.
type Config struct {
	Addresses            []string
	Username             string
	Password             string
	Header               http.Header
	Transport            http.RoundTripper
	DiscoverNodesOnStart bool
	CompressRequestBody  bool
}

// Client is never made.
type Client struct {
	Indices *esapi.Indices
}

// NewClient refuses.
func NewClient(Config) (*Client, error) {
	return nil, errors.New("this build of Jaeger leaves Elasticsearch out")
}
